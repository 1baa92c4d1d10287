# SPDX-License-Identifier: MIT
"""Facts about torch's index_select, take_along_dim and gather: arguments, and what torch answered.

Each is (function, input, arguments, result): the input and the result as nested lists, or the kind of exception. They were
recorded from torch 2.15; `make check` compares every one of them with the torch that is installed.
"""

M = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
T = [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [10, 11]]]

FACTS = [
    # index_select: an index of rank 1 or 0, one slice for each
    ("index_select", M, (0, [2, 0]), [[8, 9, 10, 11], [0, 1, 2, 3]]),
    ("index_select", M, (1, [3, 3, 0]), [[3, 3, 0], [7, 7, 4], [11, 11, 8]]),
    ("index_select", M, (-1, [1]), [[1], [5], [9]]),
    ("index_select", M, (0, 1), [[4, 5, 6, 7]]),
    ("index_select", M, (1, []), [[], [], []]),
    ("index_select", T, (1, [1]), [[[2, 3]], [[6, 7]], [[10, 11]]]),
    ("index_select", [5, 6], (0, [1, 0, 1]), [6, 5, 6]),
    ("index_select", 5, (0, [0]), 5),
    ("index_select", 5, (-1, 0), 5),
    ("index_select", M, (0, [[0]]), "refused"),
    ("index_select", M, (2, [0]), "refused"),
    ("index_select", M, (-3, [0]), "refused"),
    ("index_select", M, (0, [3]), "refused"),
    ("index_select", 5, (0, [0, 0]), "refused"),
    ("index_select", 5, (0, [1]), "refused"),
    # take_along_dim: ranks equal, broadcast off dim; flattened without one
    ("take_along_dim", M, ([[0, 3], [1, 2], [0, 0]], 1), [[0, 3], [5, 6], [8, 8]]),
    ("take_along_dim", M, ([[2, 1, 0, 1]], 0), [[8, 5, 2, 7]]),
    ("take_along_dim", M, ([[1]], 0), [[4, 5, 6, 7]]),
    ("take_along_dim", M, ([[1]], 1), [[1], [5], [9]]),
    ("take_along_dim", [[1, 2, 3]], ([[0], [2]], 1), [[1], [3]]),
    ("take_along_dim", [[1], [2]], ([[1, 0, 1]], 0), [[2, 1, 2]]),
    ("take_along_dim", M, ([11, 0],), [11, 0]),
    ("take_along_dim", M, ([[11], [0]],), [11, 0]),
    ("take_along_dim", T, ([[[1, 0]]], -2), [[[2, 1]], [[6, 5]], [[10, 9]]]),
    ("take_along_dim", M, ([[0, 0]], 0), "refused"),
    ("take_along_dim", M, ([0], 0), "refused"),
    ("take_along_dim", M, ([[-1]], 1), [[3], [7], [11]]),
    ("take_along_dim", M, ([[0]], 2), "refused"),
    ("take_along_dim", M, ([12],), "refused"),
    # gather: GatherElements, whose indices may be smaller off the axis
    ("gather", M, (1, [[0, 3], [1, 2]]), [[0, 3], [5, 6]]),
    ("gather", M, (0, [[2, 1, 0]]), [[8, 5, 2]]),
    ("gather", M, (1, [[4]]), "refused"),
]

# Where garner answers otherwise, on purpose: arguments, torch's answer, garner's. torch refuses negative indices in some of
# its functions, and takes any index modulo the extent in take_along_dim with a dim.
DIFFERENCES = [
    ("index_select", M, (0, [-1]), "refused", [[8, 9, 10, 11]]),
    ("gather", M, (1, [[-1]]), "refused", [[3]]),
    ("take_along_dim", M, ([-1],), "refused", [11]),
    ("take_along_dim", M, ([[4]], 1), [[0], [4], [8]], "refused"),
    ("take_along_dim", M, ([[-9]], 1), [[3], [7], [11]], "refused"),
]
