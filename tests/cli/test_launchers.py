# SPDX-License-Identifier: MIT
"""Several processes that a launcher has started never write one output. What it leaves in the environment tells."""

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
