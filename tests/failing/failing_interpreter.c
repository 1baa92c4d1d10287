/* SPDX-License-Identifier: MIT */
/*
 * Lets one call fail that a module makes of Python's interpreter: `refusing_enter` puts wrappers into the
 * module's own table of imported functions, and between `refusing_begin` and `refusing_end` the n-th call of
 * these gives NULL or -1 and sets MemoryError, as all of them may. Functions that cannot fail for what garner
 * gives them are left alone.
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_long counted;
static long which; /* 0: none */
static const char *failed;

int refusing_enter(const char *path);
void refusing_begin(long n);
const char *refusing_end(void);

static void *(*no_memory)(void);
static void (*drop)(void *);

void refusing_begin(long n)
{
    atomic_store(&counted, 0);
    failed = NULL;
    which = n;
}

/* The function that failed; NULL if there was no n-th call. */
const char *refusing_end(void)
{
    which = 0;
    return failed;
}

static int refuses(const char *name)
{
    if (which == 0 || atomic_fetch_add(&counted, 1) + 1 != which) return 0;
    failed = name;
    no_memory();
    return 1;
}

/* ---- The wrappers ---- */

/* CALL(what it gives, what it gives when it fails, name, parameters, arguments) */
#define OBJECTS(CALL)                                                                                 \
    CALL(void *, NULL, PyByteArray_FromStringAndSize, (void *a, long b), (a, b))                      \
    CALL(void *, NULL, PyBytes_FromStringAndSize, (void *a, long b), (a, b))                          \
    CALL(void *, NULL, PyCapsule_New, (void *a, void *b, void *c), (a, b, c))                         \
    CALL(void *, NULL, PyComplex_FromDoubles, (double a, double b), (a, b))                           \
    CALL(void *, NULL, PyDict_Items, (void *a), (a))                                                  \
    CALL(void *, NULL, PyDict_New, (void), ())                                                        \
    CALL(void *, NULL, PyErr_NewExceptionWithDoc, (void *a, void *b, void *c, void *d), (a, b, c, d)) \
    CALL(void *, NULL, PyFloat_FromDouble, (double a), (a))                                           \
    CALL(void *, NULL, PyImport_ImportModule, (void *a), (a))                                         \
    CALL(void *, NULL, PyIter_Next, (void *a), (a))                                                   \
    CALL(void *, NULL, PyList_AsTuple, (void *a), (a))                                                \
    CALL(void *, NULL, PyList_New, (long a), (a))                                                     \
    CALL(void *, NULL, PyLong_FromLong, (long a), (a))                                                \
    CALL(void *, NULL, PyLong_FromLongLong, (long long a), (a))                                       \
    CALL(void *, NULL, PyLong_FromSsize_t, (long a), (a))                                             \
    CALL(void *, NULL, PyLong_FromUnsignedLongLong, (unsigned long long a), (a))                      \
    CALL(void *, NULL, PyNumber_Index, (void *a), (a))                                                \
    CALL(void *, NULL, PyNumber_Remainder, (void *a, void *b), (a, b))                                \
    CALL(void *, NULL, PyObject_Call, (void *a, void *b, void *c), (a, b, c))                         \
    CALL(void *, NULL, PyObject_CallNoArgs, (void *a), (a))                                           \
    CALL(void *, NULL, PyObject_CallObject, (void *a, void *b), (a, b))                               \
    CALL(void *, NULL, PyObject_GetAttr, (void *a, void *b), (a, b))                                  \
    CALL(void *, NULL, PyObject_GetAttrString, (void *a, void *b), (a, b))                            \
    CALL(void *, NULL, PyObject_GetIter, (void *a), (a))                                              \
    CALL(void *, NULL, PyObject_Repr, (void *a), (a))                                                 \
    CALL(void *, NULL, PyObject_Str, (void *a), (a))                                                  \
    CALL(void *, NULL, PySequence_Concat, (void *a, void *b), (a, b))                                 \
    CALL(void *, NULL, PySequence_GetItem, (void *a, long b), (a, b))                                 \
    CALL(void *, NULL, PyTuple_New, (long a), (a))                                                    \
    CALL(void *, NULL, PyType_FromModuleAndSpec, (void *a, void *b, void *c), (a, b, c))              \
    CALL(void *, NULL, PyType_GetModuleState, (void *a), (a))                                         \
    CALL(void *, NULL, PyType_GetName, (void *a), (a))                                                \
    CALL(void *, NULL, PyType_GetQualName, (void *a), (a))                                            \
    CALL(void *, NULL, PyUnicode_AsEncodedString, (void *a, void *b, void *c), (a, b, c))             \
    CALL(void *, NULL, PyUnicode_AsUTF8AndSize, (void *a, void *b), (a, b))                           \
    CALL(void *, NULL, PyUnicode_DecodeUTF8, (void *a, long b, void *c), (a, b, c))                   \
    CALL(void *, NULL, PyUnicode_FromFormatV, (void *a, va_list b), (a, b))                           \
    CALL(void *, NULL, PyUnicode_FromString, (void *a), (a))                                          \
    CALL(void *, NULL, PyUnicode_FromStringAndSize, (void *a, long b), (a, b))                        \
    CALL(void *, NULL, PyUnicode_InternFromString, (void *a), (a))                                    \
    CALL(void *, NULL, PyUnicode_Replace, (void *a, void *b, void *c, long d), (a, b, c, d))          \
    CALL(void *, NULL, PyUnicode_Split, (void *a, void *b, long c), (a, b, c))                        \
    CALL(void *, NULL, PyUnicode_Substring, (void *a, long b, long c), (a, b, c))                     \
    CALL(void *, NULL, PyWeakref_NewRef, (void *a, void *b), (a, b))                                  \
    CALL(void *, NULL, _Py_VaBuildValue_SizeT, (void *a, va_list b), (a, b))

#define NUMBERS(CALL)                                                             \
    CALL(int, -1, PyDict_SetItem, (void *a, void *b, void *c), (a, b, c))         \
    CALL(int, -1, PyDict_SetItemString, (void *a, void *b, void *c), (a, b, c))   \
    CALL(int, -1, PyErr_CheckSignals, (void), ())                                 \
    CALL(int, -1, PyList_Append, (void *a, void *b), (a, b))                      \
    CALL(int, -1, PyModule_AddObjectRef, (void *a, void *b, void *c), (a, b, c))  \
    CALL(long, -1, PyNumber_AsSsize_t, (void *a, void *b), (a, b))                \
    CALL(int, -1, PyObject_GetBuffer, (void *a, void *b, int c), (a, b, c))       \
    CALL(int, -1, PyObject_IsInstance, (void *a, void *b), (a, b))                \
    CALL(int, -1, PyObject_IsTrue, (void *a), (a))                                \
    CALL(int, -1, PyObject_RichCompareBool, (void *a, void *b, int c), (a, b, c)) \
    CALL(int, -1, PyObject_SetAttr, (void *a, void *b, void *c), (a, b, c))       \
    CALL(long, -1, PySequence_Size, (void *a), (a))                               \
    CALL(int, -1, PySlice_Unpack, (void *a, void *b, void *c, void *d), (a, b, c, d))

/* These take the object that is put in, also when they fail. */
#define TAKING(CALL)                     \
    CALL(PyList_SetItem, (a, b, object)) \
    CALL(PyTuple_SetItem, (a, b, object))

#define PLAIN(type, failure, name, parameters, arguments) \
    static type(*real_##name) parameters;                 \
    static type wrap_##name parameters                    \
    {                                                     \
        if (refuses(#name)) return failure;               \
        return real_##name arguments;                     \
    }
OBJECTS(PLAIN)
NUMBERS(PLAIN)

#define TAKE(name, arguments)                              \
    static int (*real_##name)(void *, long, void *);       \
    static int wrap_##name(void *a, long b, void *object)  \
    {                                                      \
        if (!refuses(#name)) return real_##name arguments; \
        if (object) drop(object);                          \
        return -1;                                         \
    }
TAKING(TAKE)

/* Any number of arguments. */

static void *wrap_PyUnicode_FromFormat(void *format, ...)
{
    va_list more;
    va_start(more, format);
    void *made = refuses("PyUnicode_FromFormat") ? NULL : real_PyUnicode_FromFormatV(format, more);
    va_end(more);
    return made;
}

static void *wrap__Py_BuildValue_SizeT(void *format, ...)
{
    va_list more;
    va_start(more, format);
    void *made = refuses("Py_BuildValue") ? NULL : real__Py_VaBuildValue_SizeT(format, more);
    va_end(more);
    return made;
}

static int (*real__PyArg_VaParse_SizeT)(void *, void *, va_list);

static int wrap__PyArg_ParseTuple_SizeT(void *tuple, void *format, ...)
{
    va_list more;
    va_start(more, format);
    int read = refuses("PyArg_ParseTuple") ? 0 : real__PyArg_VaParse_SizeT(tuple, format, more);
    va_end(more);
    return read;
}

static void *(*real_PyTuple_Pack)(long, ...);

static void *wrap_PyTuple_Pack(long count, ...)
{
    void *object[6] = {NULL};
    va_list more;
    va_start(more, count);
    for (long i = 0; i < count && i < 6; i++)
        object[i] = va_arg(more, void *);
    va_end(more);
    if (count > 6 || refuses("PyTuple_Pack")) return NULL;
    return real_PyTuple_Pack(count, object[0], object[1], object[2], object[3], object[4], object[5]);
}

static void *(*real_PyObject_CallFunctionObjArgs)(void *, ...);

static void *wrap_PyObject_CallFunctionObjArgs(void *function, ...)
{
    void *object[7] = {NULL};
    va_list more;
    va_start(more, function);
    for (int i = 0; i < 6 && (object[i] = va_arg(more, void *)); i++) {
    }
    va_end(more);
    if (refuses("PyObject_CallFunctionObjArgs")) return NULL;
    return real_PyObject_CallFunctionObjArgs(function, object[0], object[1], object[2], object[3], object[4],
                                             object[5], NULL);
}

/* ---- The module's table ---- */

static const struct wrapper {
    const char *name;
    void *wrapper, *real; /* where the real one is kept */
} wrappers[] = {
#define LINE(type, failure, name, parameters, arguments) {#name, (void *)wrap_##name, (void *)&real_##name},
#define LINE_TAKING(name, arguments) {#name, (void *)wrap_##name, (void *)&real_##name},
    OBJECTS(LINE) NUMBERS(LINE) TAKING(LINE_TAKING) LINE(, , PyTuple_Pack, , )
        LINE(, , PyObject_CallFunctionObjArgs, , ){"PyUnicode_FromFormat", (void *)wrap_PyUnicode_FromFormat,
                                                   NULL},
    {"_Py_BuildValue_SizeT", (void *)wrap__Py_BuildValue_SizeT, NULL},
    {"_PyArg_ParseTuple_SizeT", (void *)wrap__PyArg_ParseTuple_SizeT, NULL},
    {"_PyArg_VaParse_SizeT", NULL, (void *)&real__PyArg_VaParse_SizeT},
};

static void *wrapper_of(const char *name)
{
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (strcmp(wrappers[i].name, name) == 0) return wrappers[i].wrapper;
    return NULL;
}

/* The pages were made read-only when the module was loaded. */
static int put(void **slot, void *wrapper)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (mprotect((void *)((uintptr_t)slot / page * page), page, PROT_READ | PROT_WRITE) != 0) return 0;
    *slot = wrapper;
    return 1;
}

static int walk(const struct link_map *module, const ElfW(Rela) * list, size_t bytes,
                const ElfW(Sym) * symbols, const char *strings)
{
    int count = 0;
    for (size_t i = 0; i < bytes / sizeof *list; i++) {
        const size_t symbol = list[i].r_info >> 32;
        void *wrapper = symbol ? wrapper_of(strings + symbols[symbol].st_name) : NULL;
        if (wrapper) count += put((void **)(module->l_addr + list[i].r_offset), wrapper);
    }
    return count;
}

/* How many functions of the module go through wrappers now. */
int refusing_enter(const char *path)
{
    const ElfW(Rela) * list[2] = {NULL};
    size_t bytes[2] = {0};
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    void *at;
    struct link_map *module = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (module == NULL) return 0;
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
        at = dlsym(RTLD_DEFAULT, wrappers[i].name);
        if (at == NULL) return 0;
        if (wrappers[i].real) memcpy(wrappers[i].real, &at, sizeof at);
    }
    at = dlsym(RTLD_DEFAULT, "PyErr_NoMemory");
    memcpy(&no_memory, &at, sizeof at);
    at = dlsym(RTLD_DEFAULT, "Py_DecRef");
    memcpy(&drop, &at, sizeof at);
    for (const ElfW(Dyn) *entry = module->l_ld; entry->d_tag != DT_NULL; entry++) {
        const void *there = (const void *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_RELA) list[0] = there;
        if (entry->d_tag == DT_RELASZ) bytes[0] = entry->d_un.d_val;
        if (entry->d_tag == DT_JMPREL) list[1] = there;
        if (entry->d_tag == DT_PLTRELSZ) bytes[1] = entry->d_un.d_val;
        if (entry->d_tag == DT_SYMTAB) symbols = there;
        if (entry->d_tag == DT_STRTAB) strings = there;
    }
    return walk(module, list[0], bytes[0], symbols, strings) +
           walk(module, list[1], bytes[1], symbols, strings);
}
