# SPDX-License-Identifier: MIT
"""Several processes that a launcher has started never write one output. What it leaves in the environment tells."""

import os
import shutil
import subprocess

import numpy
import pytest

WRITES = ("gather", "[1.5,2.5,3.5]", "[2,0]", "-o", "out.npy")
CHOICE = "GARNER_MPI=openmpi or GARNER_MPI=mpich says it, GARNER_MPI=off lets each rank work for itself"


def slurm(rank, ranks="4"):
    return {"SLURM_PROCID": rank, "SLURM_NTASKS": "4", "SLURM_STEP_NUM_TASKS": ranks}


def pmix(rank):
    return {"PMIX_RANK": rank, "PMIX_NAMESPACE": "job.0"}


LAUNCHERS = [
    ("4 ranks of Slurm", lambda rank: slurm(rank)),
    ("4 ranks of Slurm", lambda rank: {**slurm(rank), **pmix(rank)}),
    ("several ranks of PMIx", pmix),
    ("3 ranks of Flux", lambda rank: {"FLUX_TASK_RANK": rank, "FLUX_JOB_SIZE": "3"}),
]


@pytest.mark.parametrize("ranks, environment", LAUNCHERS)
@pytest.mark.parametrize("rank", ["0", "1"])
def test_ranks_of_no_known_mpi_are_refused_once(garner, tmp_path, ranks, environment, rank):
    answer = garner(*WRITES, env=environment(rank))
    said = f"garner: gather: {ranks} would write the same file, and which MPI they are of is not known; {CHOICE}\n"
    assert answer.code == 2 and answer.err == (said if rank == "0" else "")
    answer = garner("convert", "[1,2]", "out.npy", env=environment(rank))
    assert answer.code == 2 and answer.err.startswith(f"garner: {ranks} would write the same files") == (rank == "0")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("environment", [
    {**slurm("0"), "GARNER_MPI": "off"},
    {**pmix("1"), "GARNER_MPI": "off"},
    {**slurm("0", "1"), **pmix("0")},
    {"SLURM_PROCID": "0", "SLURM_NTASKS": "4"},  # a batch script, in which nothing has started several processes yet
    {**slurm("0"), "OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"},
    {**slurm("0"), "PMI_SIZE": "1", "PMI_RANK": "0"},
], ids=str)  # fmt: skip
def test_a_process_that_is_alone_writes(garner, tmp_path, environment):
    assert garner(*WRITES, env=environment).code == 0
    assert numpy.load(tmp_path / "out.npy").tolist() == [3.5, 1.5]


def test_what_writes_nothing_is_not_refused(garner):
    assert garner(*WRITES).code == 0
    assert garner("info", "out.npy", env=slurm("1")).code == 0


# ---- Under an mpirun whose MPI is known ----

MPI = [{"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}, {"PMI_SIZE": "2", "PMI_RANK": "0"}, {**slurm("0"), "GARNER_MPI": "mpich"},
       {**pmix("0"), "GARNER_MPI": "openmpi"}]  # fmt: skip


@pytest.mark.parametrize("environment", MPI[::2], ids=str)
@pytest.mark.parametrize("arguments, words", [
    (["x.npy", "[0]"], "gather under mpirun needs --out FILE"),
    (["[1,2]", "[0]", "-o", "out.npy"], "takes DATA from a file, and standard input for nothing"),
    (["-", "[0]", "-o", "out.npy"], "takes DATA from a file"),
    (["x.npy", "-", "-o", "out.npy"], "takes DATA from a file"),
    (["nosuch.npy:x:y", "[0]", "-o", "out.npz"], ""),
    (["x.npy", "[0]", "-o", "out.npz"], "writes a .npy file, and --out is 'out.npz'"),
    (["x.npy", "[0]", "-o", "-"], "writes a .npy file, and --out is '-'"),
    (["x.npy", "[0]", "-o", "out.odd"], "out.odd"),
    (["x.npy", "[0]", "-o", "out.npy", "--axis", "1"], "is along axis 0, and --axis is 1"),
    *((["x.npy", "[0]", "-o", "out.npy", *more], f"does not take {more[0]}") for more in (
        ["--batch-dims", "0"], ["--spec", "onnx-13"], ["--oob", "zero"], ["--threads", "2"], ["--format", "json"], ["--follow-links"],
        ["--how", "pread"], ["--memory", "1M"])),
], ids=str)  # fmt: skip
def test_what_ranks_cannot_do_together(refuses, tmp_path, environment, arguments, words):
    numpy.save(tmp_path / "x.npy", numpy.arange(6.0).reshape(3, 2))
    refuses(2, words, "gather", *arguments, env=environment, stdin=b"")
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


STAND_IN = """
#include <stdio.h>
#include "mpi_command.h"
garner_status garner_mpi_command(struct mpi_job *job, garner_status status, garner_error *error)
{
    if (status) job->tell(error->message);
    else printf("%s %s %s %d of %d, %lld indices\\n", job->path, job->member ? job->member : "-", job->out, job->rank, job->ranks,
                        (long long)job->indices->shape[0]);
    return status;
}
"""


@pytest.fixture
def with_mpi(program, tmp_path):
    """A copy of the command, with a library for Open MPI beside it that says what it is asked to do."""
    if not shutil.which("cc"):
        pytest.skip("SKIP: no C compiler, so no library for ranks")
    folder = tmp_path / "bin"
    (folder / "mpi" / "openmpi").mkdir(parents=True)
    shutil.copy(program, folder / "garner")
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{root}/include", f"-I{root}/mpi", "-xc", "-", "-o", folder / "mpi" / "openmpi" / "libgarner_mpi.so"],
                   input=STAND_IN.encode(), check=True)  # fmt: skip
    return lambda arguments, env: subprocess.run([folder / "garner", *arguments], capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **env})


def test_ranks_that_work_together(with_mpi, tmp_path, program):
    if b"__asan_init" in open(program, "rb").read() or b"__tsan_init" in open(program, "rb").read():
        pytest.skip("SKIP: a library without the sanitizer cannot be loaded into a command with it")
    numpy.save(tmp_path / "x.npy", numpy.arange(6.0).reshape(3, 2))
    numpy.savez(tmp_path / "x.npz", a=numpy.arange(6.0).reshape(3, 2))
    numpy.save(tmp_path / "turned.npy", numpy.asfortranarray([[0, 1], [1, 0]]))
    (tmp_path / "bad.npy").write_bytes(b"no array")
    env = MPI[0]
    done = with_mpi(["gather", "x.npy", "[0,2,1]", "-o", "out.npy", "--axis", "0"], env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "x.npy - out.npy 0 of 2, 3 indices\n", "")
    done = with_mpi(["gather", "x.npz:a", "[1]", "-o", "out.npy"], {**env, "OMPI_COMM_WORLD_RANK": "1"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "x.npz a out.npy 1 of 2, 1 indices\n", "")
    done = with_mpi(["gather", "x.npy", "turned.npy", "-o", "out.npy"], env)
    assert done.returncode == 4 and "INDICES that lie in C order" in done.stderr and not done.stdout, done
    done = with_mpi(["gather", "x.npy", "bad.npy", "-o", "out.npy"], env)
    assert done.returncode == 4 and "bad.npy" in done.stderr, done
    done = with_mpi(["gather", "x.npy", "[0]", "-o", "out.npy"], MPI[1])
    assert done.returncode == 5 and "2 ranks of MPICH run this, and garner has no library for it" in done.stderr, done
    done = with_mpi(["gather", "x.npy", "[0]", "-o", "out.npy"], {**MPI[1], "PMI_RANK": "1"})
    assert done.returncode == 5 and done.stderr == "", done
