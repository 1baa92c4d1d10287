# SPDX-License-Identifier: MIT
"""What a program wrote to a pseudo terminal."""


def read_terminal(master):
    """All of it, piece by piece until nobody has the other end open; closes this one. The caller closes its own
    copy of the other end first. One read is not enough, not even after the program's end: the system hands over
    what was written in its own time."""
    seen = b""
    with open(master, "rb", buffering=0) as terminal:
        try:
            while piece := terminal.read(65536):
                seen += piece
        except OSError:
            pass  # how Linux says that nobody writes any more
    return seen
