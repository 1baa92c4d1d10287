# SPDX-License-Identifier: MIT
"""`python -m garner_bench`: see --help."""

import sys

from .cli import main

sys.exit(main())
