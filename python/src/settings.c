/* SPDX-License-Identifier: MIT */
/* How many threads calls use, and what the machine is. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "arguments.h"
#include "errors.h"
#include "functions.h"
#include "work.h"

const char get_num_threads_doc[] = "get_num_threads($module)\n--\n\n"
                                   "How many threads a call may use that does not say it itself.\n\n"
                                   ">>> import garner\n"
                                   ">>> garner.get_num_threads() >= 1\n"
                                   "True\n";

const char set_num_threads_doc[] =
    "set_num_threads($module, n)\n--\n\n"
    "Lets calls that do not say it themselves use at most n threads, in the whole process.\n\n"
    ">>> import garner\n"
    ">>> before = garner.get_num_threads()\n"
    ">>> garner.set_num_threads(2)\n"
    ">>> garner.get_num_threads()\n"
    "2\n"
    ">>> garner.set_num_threads(before)\n";

const char cpu_info_doc[] =
    "cpu_info($module)\n--\n\n"
    "What was detected, as a dictionary: the machine's architecture, the CPUs that this process may use, "
    "the\n"
    "threads that calls use, the instruction set of the kernels, and the kernel of some common gathers.\n\n"
    ">>> import garner\n"
    ">>> sorted(garner.cpu_info())\n"
    "['architecture', 'cpus', 'instruction_set', 'kernels', 'threads']\n";

static int count_cpus(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

/* What garner.h says of garner_threads(0). */
static int default_threads(void)
{
    const char *text = getenv("GARNER_NUM_THREADS");
    bool digits = text && *text && strspn(text, "0123456789") == strlen(text) && text[0] != '0';
    long number = digits ? strtol(text, NULL, 10) : 0;
    if (number < 1) number = count_cpus();
    return number > 256 ? 256 : (int)number;
}

static int threads_in_use(void)
{
    int threads = atomic_load(&work_threads);
    return threads > 0 ? threads : default_threads();
}

PyObject *get_num_threads(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    static const struct signature signature = {"get_num_threads", 0, 0, 0, {0}};
    if (!arguments_take(PyModule_GetState(module), &signature, arguments, count, keywords, NULL)) return NULL;
    return PyLong_FromLong(threads_in_use());
}

PyObject *set_num_threads(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    static const struct signature signature = {"set_num_threads", 1, 1, 1, {NAME_n}};
    struct state *state = PyModule_GetState(module);
    PyObject *given;
    int threads = 0;
    if (!arguments_take(state, &signature, arguments, count, keywords, &given)) return NULL;
    if (given == Py_None) {
        raise_error(state, GARNER_BAD_ARGUMENT, "threads is None; it must be at least 1");
        return NULL;
    }
    if (!option_threads(state, given, &threads)) return NULL;
    atomic_store(&work_threads, threads > 256 ? 256 : threads);
    return Py_NewRef(Py_None);
}

/* ---- cpu_info
 * ---------------------------------------------------------------------------------------------- */

/* The kernel of a gather of rows of `row` bytes, as its plan describes it: "scalar unit-i64-4". */
static PyObject *kernel_of(int64_t row)
{
    char line[512] = "";
    garner_plan *plan;
    garner_op op = {.kind = GARNER_GATHER};
    int64_t shape[2] = {1000, row}, index_shape[1] = {1000};
    garner_tensor data = {.shape = shape, .rank = 2, .dtype = GARNER_U8};
    garner_tensor indices = {.shape = index_shape, .rank = 1, .dtype = GARNER_I64};
    if (garner_plan_create(&plan, &op, &data, &indices, NULL, NULL) != GARNER_OK) return PyErr_NoMemory();
    garner_plan_describe(plan, line, sizeof line);
    garner_plan_destroy(plan);
    char *begin = strstr(line, "kernel "), *end = begin ? strrchr(line, ',') : NULL;
    if (begin == NULL || end == NULL || end < begin) return PyUnicode_FromString("");
    return PyUnicode_FromStringAndSize(begin + 7, end - begin - 7);
}

static PyObject *kernels(void)
{
    static const int rows[] = {1, 2, 4, 8, 16, 64, 256, 1024};
    PyObject *dictionary = PyDict_New();
    for (size_t i = 0; dictionary && i < sizeof rows / sizeof rows[0]; i++) {
        PyObject *key = PyUnicode_FromFormat("rows of %d bytes", rows[i]), *name = kernel_of(rows[i]);
        if (key == NULL || name == NULL || PyDict_SetItem(dictionary, key, name) < 0) Py_CLEAR(dictionary);
        Py_XDECREF(key);
        Py_XDECREF(name);
    }
    return dictionary;
}

PyObject *cpu_info(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    static const struct signature signature = {"cpu_info", 0, 0, 0, {0}};
    struct utsname machine;
    if (!arguments_take(PyModule_GetState(module), &signature, arguments, count, keywords, NULL)) return NULL;
    PyObject *chosen = kernels(), *sample = chosen ? kernel_of(4) : NULL, *level = NULL;
    if (sample) {
        PyObject *space = PyUnicode_FromString(" ");
        PyObject *words = space ? PyUnicode_Split(sample, space, 1) : NULL;
        level = words ? Py_XNewRef(PyList_GetItem(words, 0)) : NULL;
        Py_XDECREF(space);
        Py_XDECREF(words);
    }
    Py_XDECREF(sample);
    if (level == NULL) {
        Py_XDECREF(chosen);
        return NULL;
    }
    return Py_BuildValue("{s:s,s:i,s:i,s:N,s:N}", "architecture", uname(&machine) == 0 ? machine.machine : "",
                         "cpus", count_cpus(), "threads", threads_in_use(), "instruction_set", level,
                         "kernels", chosen);
}
