# SPDX-License-Identifier: MIT
"""Small .npz files, whole and slightly broken: python fuzz/corpus_npz.py FOLDER"""

import io
import pathlib
import sys
import zipfile

from corpus_npy import npy


class Pipe(io.BytesIO):
    """Cannot be gone back in, so sizes follow the members."""

    def seekable(self):
        return False

    def tell(self):
        raise OSError


def archive(members, method=zipfile.ZIP_STORED, zip64=False, file=None, comment=b""):
    file = file or io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as zipped:
        zipped.comment = comment
        for name, content in members:
            with zipped.open(name, "w", force_zip64=zip64) as member:
                member.write(content)
    return file.getvalue()


def main():
    folder = pathlib.Path(sys.argv[1])
    small, other = npy("'<f4'", "(2, 3)", payload=24), npy("'>i2'", "(3,)", payload=6)
    members = [("a.npy", small), ("é/b.npy", other)]
    files = [archive(members, method, zip64) for method in (0, 8) for zip64 in (False, True)]
    files += [archive(members, method, file=Pipe()) for method in (0, 8)]
    files += [archive(members, 12), archive([]), archive(members, comment=b"c" * 30), archive([("text", b"hi")])]
    files += [archive([("a.npy", small + b"more")], 8), archive([("a.npy", small[:-1])], 8), archive([("a.npy", b"")], 8)]
    whole = files[0]
    files += [whole[:-1], whole + b"x", whole[: len(whole) // 2], whole.replace(b"a.npy", b"b.npy", 1)]
    files += [whole[:20] + bytes([whole[20] ^ 1]) + whole[21:], files[2][:60] + b"\xff" + files[2][61:]]
    for number, content in enumerate(files):
        (folder / str(number)).write_bytes(content)


if __name__ == "__main__":
    main()
