# SPDX-License-Identifier: MIT
"""`python -m garner` is the command garner, which this package brings along."""

import os
import sys
from importlib import metadata


def command():
    """The path of the command as it was installed, wherever the installer puts programs."""
    for path in metadata.files("garner-ops") or ():
        if path.name == "garner" and path.parent.name == "bin":
            return str(path.locate().resolve())
    raise SystemExit("garner: the command is not part of this installation of garner-ops")


def main():
    program = command()
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
