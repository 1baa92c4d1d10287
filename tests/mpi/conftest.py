# SPDX-License-Identifier: MIT
"""How the tests of MPI run their processes: MPI is openmpi or mpich, and the garner that is tested has the library for it.

    GARNER_TEST_MPI     openmpi or mpich
    GARNER_BUILD        the folder of the build
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = (ROOT / os.environ.get("GARNER_BUILD", "build")).resolve()
MPI = os.environ["GARNER_TEST_MPI"]
# Open MPI refuses root, and more ranks than cores, unless it is told.
ALLOW = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
         "OMPI_MCA_mpi_yield_when_idle": "1", "GARNER_MPI_FOLDER": str(BUILD / "mpi")}  # fmt: skip


@pytest.fixture
def mpirun(tmp_path):
    def run(ranks, *words, timeout=300, **variables):
        line = [f"mpirun.{MPI}", "-n", str(ranks), *map(str, words)]
        said = subprocess.run(line, cwd=tmp_path, env={**os.environ, **ALLOW, **variables}, capture_output=True, text=True,
                              timeout=timeout, stdin=subprocess.DEVNULL)  # fmt: skip
        print(said.stdout, said.stderr, file=sys.stderr)
        return said

    return run
