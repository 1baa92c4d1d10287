# SPDX-License-Identifier: MIT
"""Tables over the ranks of MPI: from C, from the shell and from Python, with 1 to 5 ranks."""

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import ALLOW, BUILD, MPI, ROOT

GARNER = BUILD / "garner"
rng = np.random.default_rng(3)


# ---- C -----------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    program = tmp_path_factory.mktemp("calls") / "mpi_calls"
    folder = BUILD / "mpi" / MPI
    subprocess.run([f"mpicc.{MPI}", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "include", ROOT / "tests/mpi/mpi_calls.c",
                    "-o", program, "-L", folder, "-lgarner_mpi", f"-Wl,-rpath,{folder}"], check=True)  # fmt: skip
    return program


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5])
def test_calls(mpirun, calls, ranks):
    said = mpirun(ranks, calls)
    assert said.returncode == 0 and said.stderr.strip() == ""


def test_a_foreign_file_is_not_opened(tmp_path):
    program = tmp_path / "place_calls"
    subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "mpi", ROOT / "tests/mpi/place_calls.c",
                    ROOT / "mpi/mpi_place.c", "-o", program], check=True)  # fmt: skip
    subprocess.run([program], cwd=tmp_path, check=True, timeout=60)


# ---- The shell ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    table = rng.random((1000, 5)).astype(np.float32)
    indices = rng.integers(-1000, 1000, (70, 3)).astype(np.int32)
    np.save(tmp_path / "big.npy", table)
    np.save(tmp_path / "idx.npy", indices)
    return tmp_path, table, indices


GATHER = (GARNER, "gather", "big.npy", "idx.npy", "-o", "out.npy")


def left(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("apart", [False, True])
def test_gather_by_all_ranks(mpirun, files, ranks, apart):
    folder, table, indices = files
    said = mpirun(ranks, *GATHER, **({"GARNER_MPI_NODE": "rank"} if apart else {}))
    assert said.returncode == 0 and said.stdout == said.stderr == ""
    np.testing.assert_array_equal(np.load(folder / "out.npy"), table[indices])
    assert left(folder) == ["big.npy", "idx.npy", "out.npy"]


def test_no_indices_and_an_old_file(mpirun, files):
    folder, table, _ = files
    np.save(folder / "idx.npy", np.empty((0, 2), np.int64))
    (folder / "out.npy").write_text("old")
    assert mpirun(3, *GATHER).returncode == 0
    assert np.load(folder / "out.npy").shape == (0, 2, 5)


def test_rows_of_nothing(mpirun, files):
    """There may be any number of them."""
    folder, _, _ = files
    np.save(folder / "big.npy", np.empty((1 << 40, 0), np.int32))
    np.save(folder / "idx.npy", np.array([5, -3, 1 << 39]))
    assert mpirun(2, *GATHER).returncode == 0
    assert np.load(folder / "out.npy").shape == (3, 0)


@pytest.mark.parametrize("words, code, sentence", [
    (("big.npy", "[[0,1],[2,1000]]", "-o", "out.npy"), 3, r"rank \d: Gather: indices\[1,1\] = 1000 is outside \[-1000, 999\] of data axis 0"),
    (("none.npy", "[0]", "-o", "out.npy"), 5, r"rank 0: none.npy: cannot open: No such file or directory"),
    (("big.npy", "[0]", "-o", "none/out.npy"), 5, r"rank 0: none/out.npy: cannot write: No such file or directory"),
    (("big.npy", "[0]"), 2, "gather under mpirun needs --out FILE, which all ranks write together"),
    (("big.npy", "[0]", "-o", "-"), 2, "gather under mpirun writes a .npy file, and --out is '-'"),
    (("big.npy", "[0]", "-o", "out.npz"), 2, "gather under mpirun writes a .npy file, and --out is 'out.npz'"),
    (("big.npy", "[0]", "-o", "out.npy", "--axis", "1"), 2, "gather under mpirun is along axis 0, and --axis is 1"),
    (("big.npy", "[0]", "-o", "out.npy", "--oob", "zero"), 2, "gather under mpirun does not take --oob"),
    (("[1,2]", "[0]", "-o", "out.npy"), 2, "gather under mpirun takes DATA from a file, and standard input for nothing"),
])  # fmt: skip
def test_refused_once_and_by_all(mpirun, files, words, code, sentence):
    folder, _, _ = files
    said = mpirun(3, GARNER, "gather", *words)
    assert said.returncode == code
    ours = [line for line in said.stderr.splitlines() if line.startswith("garner: ")]
    assert len(ours) == 1 and re.fullmatch(f"garner: {sentence}", ours[0])
    assert left(folder) == ["big.npy", "idx.npy"]


def test_other_commands_do_not_write_together(mpirun, files):
    folder, _, _ = files
    said = mpirun(2, GARNER, "convert", "big.npy", "copy.npz")
    assert said.returncode == 2 and said.stderr.count("only gather works together under mpirun") == 1
    assert left(folder) == ["big.npy", "idx.npy"]
    assert mpirun(2, GARNER, "convert", "big.npy", "copy.npz", GARNER_MPI="off").returncode == 0
    assert mpirun(2, GARNER, "info", "big.npy").stdout.count("f32  [1000,5]") == 2


def test_without_the_library(mpirun, files):
    folder, _, _ = files
    (folder / "bin").mkdir()
    (folder / "bin" / "garner").write_bytes(GARNER.read_bytes())
    (folder / "bin" / "garner").chmod(0o755)
    said = mpirun(3, folder / "bin" / "garner", *GATHER[1:])
    assert said.returncode == 5 and said.stderr.count("and garner has no library for it (libgarner_mpi.so, built where Debian's lib") == 1
    assert left(folder) == ["big.npy", "bin", "idx.npy"]


def test_ranks_that_do_not_find_each_other(files):
    """GARNER_MPI says which MPI a launcher's ranks are of; one that finds itself alone would write the file that all write."""
    folder, table, indices = files

    def alone(ranks):
        step = {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": ranks, "GARNER_MPI": MPI}
        return subprocess.run(GATHER, cwd=folder, env={**os.environ, **ALLOW, **step}, capture_output=True, text=True, timeout=300)

    said = alone("2")
    assert said.returncode == 2 and "garner: gather: rank 0 by its environment is rank 0 of 1 to this MPI" in said.stderr
    assert left(folder) == ["big.npy", "idx.npy"]
    assert alone("1").returncode == 0
    np.testing.assert_array_equal(np.load(folder / "out.npy"), table[indices])


@pytest.mark.parametrize("victim", [0, 1])
@pytest.mark.parametrize("apart", [False, True])
def test_a_rank_that_dies(tmp_path, victim, apart):
    """In the middle of writing: the job ends within seconds, and the folder is as before."""
    np.save(tmp_path / "big.npy", np.zeros((50_000, 512), np.float32))
    np.save(tmp_path / "idx.npy", rng.integers(0, 50_000, 2_000_000).astype(np.int32))
    line = [f"mpirun.{MPI}", "-n", "3", *map(str, GATHER)]
    variables = {**os.environ, **ALLOW, **({"GARNER_MPI_NODE": "rank"} if apart else {})}
    with subprocess.Popen(line, cwd=tmp_path, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL) as job:  # fmt: skip
        wait_for_writer(job, str(tmp_path), 0 if apart else victim)
        os.kill(find_rank(str(tmp_path), victim), signal.SIGKILL)
        begun = time.monotonic()
        assert job.wait(timeout=60) != 0
        assert time.monotonic() - begun < 10
    assert left(tmp_path) == ["big.npy", "idx.npy"]


def find_rank(folder, rank):
    """The process of a rank that runs in that folder."""
    variable = f"{'OMPI_COMM_WORLD_RANK' if MPI == 'openmpi' else 'PMI_RANK'}={rank}".encode()
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{process}/cwd") == folder and variable in open(f"/proc/{process}/environ", "rb").read().split(b"\0"):
                return int(process)
        except OSError:
            continue
    return None


def wait_for_writer(job, folder, rank):
    """Until that rank has a file without a name open in that folder."""
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline and job.poll() is None:
        process = find_rank(folder, rank)
        try:
            held = [os.readlink(f"/proc/{process}/fd/{name}") for name in os.listdir(f"/proc/{process}/fd")] if process else []
        except OSError:
            continue
        if any(path.startswith(folder) and path.endswith("(deleted)") for path in held):
            return
        time.sleep(0.01)
    pytest.fail("the rank was not seen writing")


# ---- Python ------------------------------------------------------------------------------------------------------------------

PROGRAM = """
import sys
import numpy as np
from mpi4py import MPI
import garner, garner.mpi

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()
whole = np.arange(200 * 3, dtype=np.float64).reshape(200, 3)
rng = np.random.default_rng(rank)
for spread in ("blocks", "cyclic", "offsets"):
    offsets = [0] * ranks + [200] if spread == "offsets" else None
    for apart in (False, True):
        with garner.mpi.Table(comm, ((200, 3), "f8"), spread=spread, offsets=offsets, apart=apart) as table:
            table.part[:] = whole[list(table.rows)]
            table.publish()
            indices = rng.integers(-200, 200, (rank, 4))
            assert (table.take(indices) == whole[indices]).all() and table.take(indices).shape == (rank, 4, 3)
            with table.plan(indices) as plan:
                out = np.empty((rank, 4, 3))
                for _ in range(2):
                    plan.begin(out)
                    assert plan.end() is out and (out == whole[indices]).all()
            try:
                table.take([0, 200 if rank == ranks - 1 else 0])
                raise SystemExit("no error")
            except garner.OutOfRange as error:
                assert str(error) == f"rank {ranks - 1}: Gather: indices[1] = 200 is outside [-200, 199] of data axis 0", error
                assert (error.position, error.coordinates, error.value, error.bound, error.axis) == (1, (1,), 200, 200, 0)
with garner.mpi.Table(comm, ((200, 3), "f8"), apart=True) as table:
    for indices in ([0, 1], [0, 1] if rank else [[0], [1, 2]]):  # which is no array: the others do not wait for rank 0
        try:
            table.take(indices, out=[] if rank == ranks - 1 else None)
            raise SystemExit("no error")
        except (ValueError, TypeError) as error:
            assert isinstance(error, (garner.BadArgument, garner.BadShape)) or rank == 0, error
    plan = table.plan([0, 1])
    plan.begin()
for closed in (plan.begin, plan.end, lambda: table.take([0]), table.publish, lambda: table.part):
    try:
        closed()
        raise SystemExit("no error")
    except garner.BadArgument as error:
        assert "closed" in str(error)
loaded = np.load(sys.argv[1])
for spread in ("blocks", "cyclic", "offsets"):
    for apart in (False, True):
        with garner.mpi.Table(comm, sys.argv[1], spread=spread, offsets=[0, *[400] * (ranks - 1), 1000], apart=apart) as table:
            assert table.shape == (1000, 5) and table.dtype == np.float32
            assert (table.part == loaded[list(table.rows)]).all()
            every = rng.permutation(1000)
            assert (table.take(every) == loaded[every]).all() and (table.take([999]) == loaded[[999]]).all()
try:
    garner.mpi.Table(comm, ((200 + rank, 3), "f8"))
    assert ranks == 1
except garner.BadShape as error:
    assert str(error).startswith("rank 1: "), error
print("fine")
"""


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_python(mpirun, files, ranks):
    pytest.importorskip("mpi4py", reason="mpi4py is missing", exc_type=ImportError)
    folder, _, _ = files
    said = mpirun(ranks, sys.executable, "-c", PROGRAM, folder / "big.npy")
    assert said.returncode == 0 and said.stdout.count("fine") == ranks
