# SPDX-License-Identifier: MIT
"""What a wheel has and is called: contents.py WHEEL. auditwheel says what it needs of a machine; the rest is looked at here."""

import struct
import subprocess
import sys
import zipfile
from pathlib import Path

MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine of an ELF file
PROGRAMS = {"garner/_garner.abi3.so", "garner/libgarner_onnxruntime.so", "garner/_bench/libgarner.so.0", "scripts/garner"}
NOTICES = {"licenses/LICENSE", "licenses/expat.txt", "licenses/zlib.txt"}

NEWEST = {"manylinux": (2, 28), "musllinux": (1, 2)}  # no machine of the last years has an older libc

wheel = Path(sys.argv[1])
tag = wheel.stem.split("-")[-1]
libc, *version = tag.split("_")[:3]
assert tuple(map(int, version)) <= NEWEST[libc], f"{tag} is for new machines only"
told = subprocess.run([Path(sys.executable).with_name("auditwheel"), "show", wheel], capture_output=True, text=True, check=True).stdout
words = " ".join(told.split())
assert f'platform tag: "{tag}"' in words, words

with zipfile.ZipFile(wheel) as archive:
    names = archive.namelist()
    assert any("abi3-" + tag in line for name in names if name.endswith("/WHEEL") for line in archive.read(name).decode().splitlines()), "WHEEL says otherwise"
    for wanted in PROGRAMS | NOTICES:
        (name,) = [name for name in names if name.endswith(wanted)]
        if wanted in NOTICES:
            assert len(archive.read(name)) > 500, f"{name} is no notice"
            continue
        data = archive.read(name)
        assert data[:4] == b"\x7fELF" and tag.endswith(MACHINES[struct.unpack_from("<H", data, 18)[0]]), f"{name} is for another machine"
        assert b".debug_info" not in data, f"{name} carries what debuggers read"
        for library in (b"libz.so", b"libexpat.so"):
            assert library not in data, f"{name} needs {library.decode()}"
size = wheel.stat().st_size
assert size < 8 << 20, f"{size} bytes: what has grown?"
print(f"{wheel.name}: {len(names)} files, {size / 2**20:.1f} MiB; {words.partition('. ')[0]}")
