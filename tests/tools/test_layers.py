# SPDX-License-Identifier: MIT
"""tools/layers finds what it is there to find: faults planted in a tree of a few files."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("include", "src/cpu", "formats/common", "formats/npy", "model", "draw", "cli", "python", "plugin", "onnxruntime", "openvino",
           "web", "examples", "table", "mpi")

# Calls go from store.c to list.c to text.c, the last of them through a table.
CLEAN = {
    "formats/store.h": "int store_open(int a);\nint store_close(int a);\n",
    "formats/store.c": '#include "store.h"\n\n#include "list.h"\n\nint store_open(int a)\n{\n    return list_make(a);\n}\n',
    "formats/common/list.h": "int list_make(int a);\n",
    "formats/common/list.c": """#include "list.h"

#include "text.h"

static int (*const steps[])(int) = {
    text_show,
};

int list_make(int a)
{
    return steps[0](a);
}
""",
    "formats/common/text.h": "int text_show(int a);\nint text_count(int a);\n",
    "formats/common/text.c": '#include "text.h"\n\nint text_show(int a)\n{\n    return a;\n}\n',
}  # fmt: skip


@pytest.fixture
def layers(tmp_path):
    """Runs tools/layers on the clean tree with the files given in place of its own, and the table changed by (pattern, row)."""

    def run(files=(), row=None):
        for folder in ("tools", *FOLDERS):
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for tool in ("layers", "circles.awk", "parameters.awk"):
            shutil.copy(ROOT / "tools" / tool, tmp_path / "tools")
        if row:
            table = tmp_path / "tools" / "layers"
            changed, count = re.subn(*row, table.read_text(), flags=re.MULTILINE)
            assert count == 1
            table.write_text(changed)
        for name, text in {**CLEAN, **dict(files)}.items():
            (tmp_path / name).write_text(text)
        done = subprocess.run([tmp_path / "tools" / "layers"], capture_output=True, text=True, check=False)
        assert not done.stderr
        return done.returncode, done.stdout.splitlines()

    return run


def test_clean_tree(layers):
    assert layers() == (0, ["layers: 6 source files, includes and calls go one way"])


CIRCLE = ["formats/common/list.c needs text_show of formats/common/text.c needs list_make of formats/common/list.c"]


@pytest.mark.parametrize(
    "text",
    [
        '#include "list.h"\n#include "text.h"\n\nint text_show(int a)\n{\n    return list_make(a);\n}\n',
        '#include "list.h"\n#include "text.h"\n\nint (*text_next)(int) = list_make;\n\nint text_show(int a)\n{\n    return a;\n}\n',
        '#include "list.h"\n#include "text.h"\n#define GO(a) list_make(a)\n\nint\ntext_show(int a)\n{\n    return GO(a);\n}\n',
    ],
    ids=["a call", "an object", "a macro"],
)
def test_circle_of_two(layers, text):
    assert layers({"formats/common/text.c": text}) == (1, CIRCLE)


@pytest.mark.parametrize(
    "text",
    [
        "static inline int text_make(int a)\n{\n#ifdef FAST\n    a++;\n#endif\n    return list_make(a);\n}\n",
        "#define TEXT_MAKE(a) \\\n    (a > 0 ? 0 : \\\n     list_make(a))\n",
    ],
    ids=["a function", "a macro"],
)
def test_circle_through_a_header(layers, text):
    assert layers({"formats/common/text.h": f'#include "list.h"\n\nint text_show(int a);\n\n{text}'}) == (1, CIRCLE)


def test_circle_of_three(layers):
    """Through another folder, and past a line that only looks like a definition."""
    text = """#include "text.h"

struct text {
    int (*store_open)(int a);
};
int store_open(int a);

int text_show(int a)
{
    /* list_make(a) */
    return store_open(a);
}
"""
    code, said = layers({"formats/common/text.c": text})
    assert code == 1
    assert said == ["formats/common/list.c needs text_show of formats/common/text.c needs store_open of formats/store.c "
                    "needs list_make of formats/common/list.c"]  # fmt: skip


def test_what_is_no_circle(layers):
    """Words in comments and texts, fields, functions of the same name that no header declares here, and declarations in headers."""
    text = """#include "text.h"

/* As list_make does,
 * or list_make again. */
int text_show(int a)
{
    struct text text = {.list_make = a};
    const char *said = "list_make(a)";
    return text.list_make + *said;
}

static int store_open(int a)
{
    return a;
}

int text_count(int a)
{
    return store_open(a);
}
"""
    header = '#include "list.h"\n\nstruct text {\n    int list_make;\n};\nint text_show(int a);\nint text_count(int a);\nint list_other(int a);\n'
    assert layers({"formats/common/text.c": text, "formats/common/text.h": header})[0] == 0


def test_includes(layers):
    code, said = layers({"formats/common/text.c": '#include "store.h"\n#include "nowhere.h"\n'})
    assert code == 1
    assert said == ["formats/common/text.c:1: formats/common may not include formats/store.h",
                    'formats/common/text.c:2: there is no "nowhere.h" in the folders of the table']  # fmt: skip


def test_headers_in_the_table(layers):
    """A header in a row stands for itself and what it includes."""
    files = {"src/base.h": "enum { BASE };\n", "src/nest.h": '#include "base.h"\n', "src/plan.h": '#include "nest.h"\n',
             "src/cpu/work.c": '#include "base.h"\n#include "nest.h"\n#include "plan.h"\n'}  # fmt: skip
    row = ("^src/cpu .*$", "src/cpu include src/nest.h")
    assert layers(files, row) == (1, ["src/cpu/work.c:3: src/cpu may not include src/plan.h"])


def test_names(layers):
    code, said = layers({"cli/text.def": "TEXT(1)\n"})
    assert code == 1
    assert said == ["formats/common/text.c:1: cli has a file of that name, too"]


def test_names_of_tests(layers, tmp_path):
    (tmp_path / "tests").mkdir()
    code, said = layers({"tests/text.h": "enum { TEXT };\n"})
    assert code == 1
    assert said == ["tests/text.h:1: formats/common/text.h has the same name"]


SEVEN = "int a, int b, int c, int d,\n    int e, int (*f)(int, int), int g"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("one.c", f"static int many({SEVEN})\n{{\n    return a;\n}}\n", "1: many"),
        ("one.h", f"static inline __attribute__((always_inline)) int many({SEVEN});\n", "1: many"),
        ("one.c", f"#define MAKE(NAME) \\\n    static int NAME(many, NAME)( \\\n        {SEVEN.replace(chr(10), '')}) \\\n    {{ \\\n    }}\n", "2: NAME"),
        ("one.hpp", f"struct thing {{\n    int many({SEVEN}) const\n    {{\n        return a;\n    }}\n}};\n", "2: many"),
        ("one.hpp", f"template <int A, class B> const B *many({SEVEN})\n{{\n    return 0;\n}}\n", "1: many"),
        ("one.cu", f"namespace inner {{\n  __global__ void many({SEVEN})\n  {{\n  }}\n}}\n", "2: many"),
    ],
    ids=["a function", "with an attribute", "in a macro", "in a class", "a template", "in a namespace"],
)
def test_parameters(layers, name, text, said):
    assert layers({f"src/cpu/{name}": text}) == (1, [f"src/cpu/{name}:{said} has 7 parameters"])


def test_six_parameters(layers):
    """Calls and conditions are no functions, nor is what stands in a comment."""
    text = """/* int many(int a, int b, int c, int d, int e, int f, int g); */
int six(int a, int b, int c, int d, int e, int (*f)(int, int, int, int, int, int, int))
{
    if (a + b > call(1, 2, 3, 4, 5, 6, 7)) return call(1, 2, 3, 4, 5, 6, 7);
    int last = call(1, 2, 3, 4, 5, 6, 7);
    call(1, 2, 3, 4, 5, 6,
         7);
    return last;
}
"""
    assert layers({"src/cpu/one.c": text})[0] == 0
