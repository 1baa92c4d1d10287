# SPDX-License-Identifier: MIT
"""A tour of the Python package, cell by cell: run it whole, or open it as a notebook (each "# %%" begins a cell).

    build/venv/bin/python examples/python_tour.py
"""

# %% Rows of a table, as numpy.take does it
import tempfile
from pathlib import Path

import numpy as np

import garner

words = np.array(["ant", "bee", "cat", "dog"])
vectors = np.arange(12, dtype=np.float32).reshape(4, 3)
order = [3, 0, -2]
print(garner.gather(words, order), garner.gather(vectors, order), sep="\n")
assert (garner.gather(vectors, order) == np.take(vectors, order, axis=0)).all()

# %% One element for each index: what argsort points to
scores = np.array([[3.5, 1.5, 2.5], [9.0, 8.0, 7.0]])
best_first = np.argsort(-scores, axis=1)
print(garner.gather_elements(scores, best_first, axis=1))

# %% Points of a grid, and a batch of them
image = np.arange(24).reshape(2, 3, 4)
print(garner.gather_nd(image, np.array([[0, 2, 3], [1, 0, 0]])))
print(garner.gather_nd(image, np.array([[[2, 3]], [[0, 0]]]), batch_dims=1))

# %% A bad index says which, where, and what would do
try:
    garner.gather(vectors, [0, 7])
except IndexError as error:
    print(error, "|", error.coordinates, error.value, error.bound)
print(garner.gather(vectors, [0, 7], oob="zero"))

# %% Where everything came from: text in a terminal, a picture in a notebook
drawing = garner.explain("gather", vectors, [2, 0], axis=1)

# %% Shapes once, arrays each time
plan = garner.Plan("gather", vectors.shape, (3,), dtype=vectors.dtype)
out = np.empty(plan.shape, vectors.dtype)
for shift in range(3):
    plan(vectors, np.array([0, 1, 2]) + shift - 1, out=out)
print(plan, out, sep="\n")

# %% Files: mapped, not read
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "table.safetensors")
    garner.save(path, {"vectors": vectors, "scores": scores})
    print(garner.gather(garner.load(path)["vectors"], [1]).tolist())
