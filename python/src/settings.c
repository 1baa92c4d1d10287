/* SPDX-License-Identifier: MIT */
/* How many threads calls use, and what the machine is. */
#include <string.h>

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
    "What was detected, as a dictionary: the architecture, the CPUs that this process may use, the threads\n"
    "that calls use, the CPU's features, the highest level of kernels that was detected and the one in use,\n"
    "and the kernels of some common gathers.\n\n"
    ">>> import garner\n"
    ">>> sorted(garner.cpu_info())\n"
    "['architecture', 'cpus', 'detected', 'features', 'kernels', 'level', 'measured', 'profile', "
    "'threads']\n";

static int threads_in_use(void)
{
    garner_cpu cpu = {.size = sizeof cpu};
    int threads = atomic_load(&work_threads);
    if (threads > 0) return threads;
    garner_cpu_info(&cpu);
    return cpu.threads;
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

/* ---- cpu_info -------------------------------------------------------------------------------- */

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
    char *begin = strstr(line, "kernel "), *end = begin ? strchr(begin, ',') : NULL;
    if (begin == NULL || end == NULL) return PyUnicode_FromString("");
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
    garner_cpu cpu = {.size = sizeof cpu};
    if (!arguments_take(PyModule_GetState(module), &signature, arguments, count, keywords, NULL)) return NULL;
    garner_cpu_info(&cpu);
    PyObject *chosen = kernels(), *features = PyUnicode_FromString(cpu.features);
    PyObject *list = features ? PyUnicode_Split(features, NULL, -1) : NULL;
    Py_XDECREF(features);
    if (chosen == NULL || list == NULL) {
        Py_XDECREF(chosen);
        Py_XDECREF(list);
        return NULL;
    }
    return Py_BuildValue("{s:s,s:i,s:i,s:s,s:s,s:s,s:O,s:N,s:N}", "architecture", cpu.architecture, "cpus",
                         (int)cpu.cpus, "threads", threads_in_use(), "detected", cpu.detected, "level",
                         cpu.level, "profile", cpu.profile, "measured", cpu.measured ? Py_True : Py_False,
                         "features", list, "kernels", chosen);
}
