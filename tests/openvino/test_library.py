# SPDX-License-Identifier: MIT
"""garner.openvino.library(): compiled once, whole or not at all, and clear about what is missing."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import openvino as ov
import pytest
from conftest import ASK, WARNINGS

import garner
import garner.openvino


def run(program, **environment):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})  # fmt: skip


def test_two_processes_at_once():
    """Both get the same file, one of them made it, and nothing else is left behind but what a third one asked for."""
    said = json.loads(os.environ["GARNER_OPENVINO_ASKED"])
    assert [code for _, _, code in said] == [0, 0, 0], said
    first, second = (json.loads(out) for out, _, _ in said[:2])
    assert first == second == garner.openvino.library()
    folder, third = Path(first).parent, garner.openvino.library(min_bytes=0)
    assert sorted(path.name for path in folder.iterdir()) == sorted(["lock", Path(first).name, Path(third).name])
    assert folder == Path(os.environ["XDG_CACHE_HOME"]) / "garner"
    assert folder.stat().st_mode & 0o077 == 0
    release = ov.__version__.split("-")[0]
    assert Path(first).name.startswith(f"openvino-{release}-garner-{garner.__version__}-")


def test_asking_again_needs_no_compiler():
    said = run(ASK, CXX="/nonexistent/c++")
    assert said.returncode == 0 and json.loads(said.stdout) == garner.openvino.library(), said.stderr


def test_the_library_stands_alone():
    """It needs the runtime's libraries and the system's, and offers one name."""
    told = subprocess.run(["readelf", "-d", garner.openvino.library()], capture_output=True, text=True, check=True).stdout
    needed = [line.split("[")[1].rstrip("]") for line in told.splitlines() if "(NEEDED)" in line]
    assert all(name.startswith(("libopenvino.so", "libtbb", "libstdc++", "libgcc_s", "libc.so", "libm.so", "ld-linux")) for name in needed), needed
    assert "RPATH" not in told and "RUNPATH" not in told
    names = subprocess.run(["nm", "-D", "--defined-only", garner.openvino.library()], capture_output=True, text=True, check=True).stdout
    assert [line.split()[-1] for line in names.splitlines() if line.split()[-2] == "T"] == ["create_extensions"]


def test_the_library_is_hardened():
    """Like all that is shipped: canaries, addresses bound when it is loaded, no executable stack."""
    if "sanitize" in os.environ.get("CXX", ""):
        pytest.skip("sanitizers are there in the place of hardening")

    def told(*options):
        return subprocess.run(["readelf", "-W", *options, garner.openvino.library()], capture_output=True, text=True, check=True).stdout

    assert "BIND_NOW" in told("-d") and "TEXTREL" not in told("-d")
    segments = told("-l")
    assert "GNU_RELRO" in segments and " RWE " not in segments
    assert "__stack_chk_fail" in told("--dyn-syms")


def test_a_compiler_without_hardening(tmp_path):
    """One that refuses each such option compiles without."""
    compiler = tmp_path / "c++"
    compiler.write_text("#!/bin/sh\ncase $* in *-fstack*|*-z,now*|*FORTIFY*|*protection*|*-z,relro*|*-z,noexec*) exit 1 ;; esac\n"
                        "for last; do :; done\necho ours >\"$last\"\n")  # fmt: skip
    compiler.chmod(0o755)
    said = run(ASK, XDG_CACHE_HOME=str(tmp_path / "cache"), CXX=str(compiler))
    assert said.returncode == 0 and Path(json.loads(said.stdout)).read_text() == "ours\n", said


def test_no_compiler(tmp_path):
    empty = tmp_path / "bin"
    empty.mkdir()
    said = run(ASK, XDG_CACHE_HOME=str(tmp_path / "cache"), PATH=str(empty), CXX="")
    assert "RuntimeError: garner.openvino: a C++ compiler is needed, once for each version of openvino: install g++" in said.stderr
    said = run(ASK, XDG_CACHE_HOME=str(tmp_path / "cache"), CXX="no-such-compiler -O3")
    assert "RuntimeError: garner.openvino: CXX names 'no-such-compiler', and there is no such program" in said.stderr


def test_a_compiler_that_fails(tmp_path):
    said = run(ASK, XDG_CACHE_HOME=str(tmp_path / "cache"), CXX="false")
    assert "RuntimeError: garner.openvino: false could not compile the extension: it said nothing" in said.stderr
    compiler = tmp_path / "c++"
    compiler.write_text("#!/bin/sh\necho operators.hpp:3: note: so so >&2\necho 'operators.hpp:7: error: no such thing' >&2\nexit 1\n")
    compiler.chmod(0o755)
    said = run(ASK, XDG_CACHE_HOME=str(tmp_path / "cache"), CXX=str(compiler))
    assert "could not compile the extension: operators.hpp:7: error: no such thing" in said.stderr
    assert [path.name for path in (tmp_path / "cache" / "garner").iterdir()] == ["lock"]


def test_no_openvino(tmp_path):
    """Neither where nothing of that name is found, nor where a folder passes for it."""
    hide = "import sys; sys.modules['openvino'] = None; "
    said = run(hide + ASK)
    assert "ImportError: garner.openvino: the openvino package is not installed: pip install openvino" in said.stderr
    pretend = "import sys, types; sys.modules['openvino'] = types.ModuleType('openvino'); "
    assert "ImportError: garner.openvino: the openvino package is not installed" in run(pretend + ASK).stderr


def test_a_cache_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    said = run(ASK, XDG_CACHE_HOME=str(tmp_path / "file"))
    assert "NotADirectoryError" in said.stderr and str(tmp_path / "file") in said.stderr


PRETEND = "#!/bin/sh\nfor last; do :; done\numask 0\necho ours >\"$last\"\n"


@pytest.fixture
def cache(tmp_path):
    """A cache with something in the place of the extension, and a compiler that is quick."""
    compiler = tmp_path / "c++"
    compiler.write_text(PRETEND)
    compiler.chmod(0o755)
    folder = tmp_path / "cache" / "garner"
    folder.mkdir(mode=0o700, parents=True)
    planted = folder / Path(garner.openvino.library()).name
    planted.write_text("planted")
    planted.chmod(0o700)
    return planted, {"XDG_CACHE_HOME": str(tmp_path / "cache"), "CXX": str(compiler)}


def give_away(path):
    """Makes a path another user's."""
    if os.geteuid():
        pytest.skip("only root can give a file to another user: what belongs to others is not tested")
    os.chown(path, 54321, -1, follow_symlinks=False)


def test_what_is_the_user_s_own_is_taken(cache):
    planted, environment = cache
    assert json.loads(run(ASK, **environment).stdout) == str(planted) and planted.read_text() == "planted"


def assert_refused(said, folder, mode, owner=None):
    """A sentence that names the folder, its owner and mode, what is allowed, and what to do; and no library."""
    owner = os.geteuid() if owner is None else owner
    assert said.stdout == "" and said.returncode == 1, said
    assert f"PermissionError: garner.openvino: {folder} belongs to user {owner} with mode {mode:o}, so that others could" in said.stderr, said
    assert "allowed are only your own and root's, which no others can write to" in said.stderr and "XDG_CACHE_HOME" in said.stderr


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_cache_that_others_can_write_to(cache, mode):
    """Whoever put that file there, it would be run."""
    planted, environment = cache
    planted.parent.chmod(mode)
    assert_refused(run(ASK, **environment), planted.parent, mode)
    planted.parent.chmod(0o755)
    assert run(ASK, **environment).returncode == 0


def test_a_cache_of_another_user(cache):
    planted, environment = cache
    give_away(planted.parent)
    assert_refused(run(ASK, **environment), planted.parent, 0o700, 54321)


@pytest.mark.parametrize("mode", [0o775, 0o757])
@pytest.mark.parametrize("made", [True, False])
def test_a_folder_on_the_way_that_others_can_write_to(cache, mode, made):
    """They could put another folder in the place of the next; whether that one is there already or not."""
    planted, environment = cache
    above = planted.parents[2]
    if not made:
        shutil.rmtree(planted.parents[1])
    above.chmod(mode)
    assert_refused(run(ASK, **environment), above, mode)
    assert made or not planted.parents[1].exists()  # nothing is made in such a place
    above.chmod(0o1777)  # as /tmp is: what is the user's own stays in its place
    assert run(ASK, **environment).returncode == 0


def test_a_folder_on_the_way_of_another_user(cache):
    planted, environment = cache
    give_away(planted.parents[1])
    assert_refused(run(ASK, **environment), planted.parents[1], planted.parents[1].stat().st_mode & 0o7777, 54321)


def test_links_on_the_way(cache, tmp_path):
    """A link of the user's own leads on; what it leads through is looked at; and the path given is the one behind it."""
    planted, environment = cache
    behind, link = tmp_path / "behind", tmp_path / "links"
    behind.mkdir(mode=0o700)
    link.mkdir(mode=0o700)
    (tmp_path / "cache").rename(behind / "cache")
    (link / "here").symlink_to("../behind/cache")
    environment["XDG_CACHE_HOME"] = str(link / "here")
    said = run(ASK, **environment)
    assert json.loads(said.stdout) == str(behind / "cache" / "garner" / planted.name), said
    behind.chmod(0o777)
    assert_refused(run(ASK, **environment), behind, 0o777)
    behind.chmod(0o700)
    link.chmod(0o777)
    assert_refused(run(ASK, **environment), link, 0o777)
    link.chmod(0o1777)
    assert run(ASK, **environment).returncode == 0
    give_away(link / "here")
    assert_refused(run(ASK, **environment), link / "here", 0o777, 54321)


def test_links_in_a_circle(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    said = run(ASK, XDG_CACHE_HOME=str(tmp_path / "a"))
    assert "symbolic links" in said.stderr and "OSError" in said.stderr and "RuntimeError" not in said.stderr


def test_folders_that_are_made_are_the_user_s_alone(cache, tmp_path):
    """Every one of them, whatever the umask; folders that were there stay as they were."""
    _, environment = cache
    (tmp_path / "there").mkdir(mode=0o755)
    environment["XDG_CACHE_HOME"] = str(tmp_path / "there" / "one" / "two")
    said = run("import os; os.umask(0); " + ASK, **environment)
    assert said.returncode == 0, said
    modes = [(tmp_path / "there" / part).stat().st_mode & 0o7777 for part in ("", "one", "one/two", "one/two/garner")]
    assert modes == [0o755, 0o700, 0o700, 0o700]


def test_a_link_in_the_place_of_the_library_is_replaced(cache, tmp_path):
    planted, environment = cache
    elsewhere = tmp_path / "elsewhere.so"
    planted.rename(elsewhere)
    planted.symlink_to(elsewhere)
    said = run(ASK, **environment)
    assert json.loads(said.stdout) == str(planted) and planted.read_text() == "ours\n" and not planted.is_symlink(), said
    assert elsewhere.read_text() == "planted"


@pytest.mark.parametrize("owner", ["others", "own"])
def test_a_file_that_others_put_there_is_replaced(cache, owner):
    """The folder may have been open before."""
    planted, environment = cache
    if owner == "own":
        planted.chmod(0o722)
    else:
        give_away(planted)
    said = run(ASK, **environment)
    assert json.loads(said.stdout) == str(planted) and planted.read_text() == "ours\n", said
    assert planted.stat().st_mode & 0o022 == 0 and planted.stat().st_uid == os.geteuid()


def test_an_interrupted_compilation_leaves_nothing_to_find(tmp_path):
    """Killed half way: no extension, and a lock that nobody holds; swept away when it is old."""
    slow = tmp_path / "c++"
    slow.write_text('#!/bin/sh\nfor last; do :; done\necho half >"$last"\nexec sleep 60\n')
    slow.chmod(0o755)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "CXX": str(slow)}
    child = subprocess.Popen([sys.executable, "-c", ASK], env=environment, start_new_session=True, stderr=subprocess.DEVNULL)
    folder = tmp_path / "cache" / "garner"
    deadline = time.monotonic() + 600
    while not list(folder.glob("compiling-*/*.so")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(folder.glob("compiling-*/*.so")) and not list(folder.glob("*.so"))
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    left = next(folder.glob("compiling-*"))
    os.utime(left, (1, 1))
    said = run(ASK, XDG_CACHE_HOME=str(tmp_path / "cache"), CXX="false")
    assert "could not compile" in said.stderr and not left.exists()


def test_where_the_cache_is(tmp_path):
    """XDG_CACHE_HOME, if it is an absolute path; else .cache at home."""
    program = "import garner.openvino; print(garner.openvino._cache())"
    assert run(program, XDG_CACHE_HOME=str(tmp_path)).stdout == f"{tmp_path}/garner\n"
    for given in ("", "relative"):
        assert run(program, XDG_CACHE_HOME=given, HOME=str(tmp_path)).stdout == f"{tmp_path}/.cache/garner\n"


def test_an_installation_without_the_sources(tmp_path):
    program = f"import pathlib, garner.openvino; garner.openvino._PARTS = pathlib.Path({str(tmp_path)!r}); garner.openvino.library()"
    assert "ImportError: garner.openvino: this installation of garner-ops came without the extension's sources" in run(program).stderr


@pytest.mark.parametrize("name", ["library", "replace"])
def test_signatures(name):
    import inspect

    assert str(inspect.signature(getattr(garner.openvino, name))) == {
        "library": "(*, min_bytes: int = 32768) -> str",
        "replace": "(model: Any, *, min_bytes: int = 32768) -> Any",
    }[name]


@pytest.mark.skipif(not shutil.which("clang++"), reason="clang++ is not installed: the extension is compiled by gcc alone")
def test_clang_compiles_it_without_a_warning():
    """As gcc did before, for all tests."""
    parts, package = garner.openvino._PARTS, Path(ov.__file__).resolve().parent
    said = subprocess.run(["clang++", "-std=c++17", "-fsyntax-only", *WARNINGS, "-DGARNER_MIN_BYTES=1", f"-I{parts}", "-isystem", package / "include",
                           "-include", parts / "choice.cpp", "-include", parts / "faults.cpp", "-include", parts / "operators.cpp", parts / "extension.cpp"],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert said.returncode == 0, said.stderr
