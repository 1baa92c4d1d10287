# SPDX-License-Identifier: MIT
"""garner.mpi where one rank has a problem that the others do not have: the same error on all, and nobody waits for ever."""

import sys

import pytest

pytest.importorskip("mpi4py", reason="mpi4py is missing", exc_type=ImportError)

SECONDS = 100  # a hang, on however busy a machine

HEAD = """
import os, sys
import numpy as np
from mpi4py import MPI
import garner, garner.mpi
comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()
bad = rank == 1
"""


def program(mpirun, text, *words, ranks=3, **variables):
    return mpirun(ranks, sys.executable, "-c", HEAD + text, *words, timeout=SECONDS, **variables)


TABLES = [
    ('((20, 3), "f8"), spread="rows" if bad else "blocks"', "BadArgument", "Table: spread is 'rows', and must be one of blocks, cyclic, offsets"),
    ('((20, 3), "f8"), spread="offsets", offsets=[0, 20] if bad else [0, 5, 5, 20]', "BadShape",
     "Table: 2 offsets for 3 ranks; there must be one more than ranks"),
    ('((20, 3), "f8"), spread="offsets", offsets=[0, 5, "x", 20] if bad else [0, 5, 5, 20]', "BadType",
     "'str' object cannot be interpreted as an integer"),
    ('((20, 3), "none" if bad else "f8")', "BadType", "data type 'none' not understood"),
    ('((20, 3), "O" if bad else "f8")', "BadType", "Table: Python objects lie where only one rank can read them"),
    ('((20, -3 if bad else 3), "f8")', "BadArgument", None),
    ('((20, None) if bad else (20, 3), "f8")', "BadType", None),
    ('7 if bad else ((20, 3), "f8")', "BadType", None),
    ('sys.argv[1], 7 if bad else None', "BadArgument", None),
    ('sys.argv[1] if bad else ((20, 3), "f8")', "BadArgument", "Table: source is a file on some ranks, and a shape on others"),
]  # fmt: skip


def test_a_table_that_one_rank_asks_for_wrongly(mpirun):
    said = program(mpirun, f"""
for arguments, kind, sentence in {TABLES!r}:
    try:
        eval(f"garner.mpi.Table(comm, {{arguments}})")
        raise SystemExit(f"no error of {{arguments}}")
    except getattr(garner, kind) as error:
        said = comm.allgather(str(error))
        assert set(said) == {{said[0]}} and said[0].startswith("rank 1: "), said
        assert sentence in (None, said[0][8:]), said
with garner.mpi.Table(comm, ((20, 3), "f8")) as table: # ranks are still in step
    table.part[:] = 7
    table.publish()
    assert table.take([0]).tolist() == [[7, 7, 7]]
print("fine")
""", "big.npy")  # fmt: skip
    assert said.returncode == 0 and said.stdout.count("fine") == 3


@pytest.mark.parametrize("damaged", [False, True])
def test_without_the_library_on_one_rank(mpirun, tmp_path, damaged):
    if damaged:
        for name in ("openmpi", "mpich"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "libgarner_mpi.so").write_text("no library")
    said = program(mpirun, """
if bad:
    os.environ["GARNER_MPI_FOLDER"] = sys.argv[1]
try:
    garner.mpi.Table(comm, ((20, 3), "f8"))
except ImportError as error:
    said = comm.allgather(str(error))
    assert set(said) == {said[0]} and said[0].startswith("rank 1: garner.mpi: "), said
    print("fine")
""", tmp_path)  # fmt: skip
    assert said.returncode == 0 and said.stdout.count("fine") == 3


GATHERS = [("[0, 1]", "[]"), ("[]", "[]"), ("[[0], [1, 2]]", "None"), ("{}", "None"), ('["a"]', "None")]


def test_a_gather_that_one_rank_asks_for_wrongly(mpirun):
    """The others want rows: they get the same error."""
    said = program(mpirun, f"""
for apart in (False, True):
    with garner.mpi.Table(comm, ((20, 3), "f8"), apart=apart) as table:
        for indices, out in {GATHERS!r}:
            try:
                table.take(eval(indices) if bad else [0, 1], out=eval(out) if bad else None)
                raise SystemExit(f"no error of {{indices}}")
            except garner.Error as error:
                said = comm.allgather((type(error).__name__, str(error)))
                assert set(said) == {{said[0]}} and said[0][1].startswith("rank 1: "), said
        plan = table.plan([0])
        if bad:
            plan.close()
        try:
            plan.begin()
            raise SystemExit("no error of a closed plan")
        except garner.BadArgument as error:
            assert str(error) == "rank 1: Plan: it is closed"
        assert table.take([0]).shape == (1, 3)
print("fine")
""")  # fmt: skip
    assert said.returncode == 0 and said.stdout.count("fine") == 3


PARTING = {
    "an exception": "raise ZeroDivisionError",
    "Ctrl-C": "os.kill(os.getpid(), signal.SIGINT); time.sleep(100)",
    "an exit": "sys.exit(3)",
    "another call": "table.publish()",
}


@pytest.mark.parametrize("parting, closes", [*((parting, True) for parting in PARTING), ("an exception", False)])
@pytest.mark.parametrize("apart", [False, True], ids=["near", "apart"])
def test_a_rank_that_leaves_between_begin_and_end(mpirun, parting, closes, apart):
    said = program(mpirun, f"""
import contextlib, signal, time
table = garner.mpi.Table(comm, ((64, 1 << 20), "u1"), spread="cyclic", apart={apart})
with table if {closes} else contextlib.nullcontext():
    plan = table.plan(range(64))
    plan.begin()
    if bad:
        {PARTING[parting]}
    try:
        plan.end()
    except garner.BadArgument as error:
        print(f"fine: {{error}}", flush=True)
        raise
""")  # fmt: skip
    assert said.returncode != 0
    what = "rank 1: garner_mpi_table_destroy: this rank has closed the table"
    if parting == "another call":
        what = "garner_mpi_table_publish on some ranks, garner_mpi_plan_end on others"
    assert said.stdout.count(f"fine: {what}") == said.stdout.count("fine: ") == 2
