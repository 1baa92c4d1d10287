# SPDX-License-Identifier: MIT
"""`python -m garner.bench`: garner against the peers that are installed here.

The benchmark of the source tree, brought along by the package; --help lists its options. It needs NumPy and a C compiler, and
writes its tables into the folder garner-bench, or wherever --output says.
"""

import importlib.util
import shutil
import sys
from pathlib import Path

PARTS = Path(__file__).resolve().with_name("_bench")


def main(argv=None):
    library = next(PARTS.glob("libgarner.so*"), None)
    if library is None:
        raise SystemExit("garner.bench: this installation of garner-ops came without the benchmark")
    if importlib.util.find_spec("numpy") is None:
        raise SystemExit("garner.bench: NumPy is needed, as a peer and to make the inputs: pip install numpy")
    if not (shutil.which("cc") or shutil.which("gcc")):
        raise SystemExit("garner.bench: a C compiler is needed to time calls from C: install gcc")
    sys.path.insert(0, str(PARTS))
    from garner_bench.cli import main as run  # type: ignore[import-not-found]

    defaults = {"--library": library, "--include": PARTS / "include", "--workloads": PARTS / "workloads.tsv", "--output": "garner-bench"}
    given = sys.argv[1:] if argv is None else list(argv)
    return run([word for pair in defaults.items() for word in map(str, pair)] + given)


if __name__ == "__main__":
    sys.exit(main())
