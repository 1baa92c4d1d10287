/* SPDX-License-Identifier: MIT */
/* Device types of DLPack, and the streams of those who have a current one. */
#include "device_read.h"

#include <stdarg.h>
#include <string.h>

#include "device_library.h"
#include "errors.h"

enum { MOST_DEVICES = 255, LEGACY_STREAM = 1, NO_ORDER = -1 };

/* ---- Where ----------------------------------------------------------------------------------- */

static void refuse(struct state *state, const struct operand *operand, long long type, long long number,
                   const char *operator, const char * name)
{
    static const char *const names[] = {
        [kDLCUDA] = "cuda",    [kDLOpenCL] = "opencl", [kDLVulkan] = "vulkan",
        [kDLMetal] = "metal",  [kDLROCM] = "rocm",     [kDLCUDAManaged] = "cuda managed memory",
        [kDLOneAPI] = "oneapi"};
    const char *known = type > 0 && type <= kDLOneAPI ? names[type] : NULL;
    const char *where =
        operand->anywhere ? "the CPU's memory and in that of NVIDIA's GPUs" : "the CPU's memory";
    if (known)
        raise_error(state, GARNER_BAD_TYPE,
                    "%s: %s is on the device %s:%lld; garner works in %s, so copy it there first", operator,
                    name, known, number, where);
    else
        raise_error(state, GARNER_BAD_TYPE,
                    "%s: %s is on device type %lld, number %lld; garner works in %s, so copy it there first",
                    operator, name, type, number, where);
}

/* Says that there is nothing here to gather on GPUs with. */
static void refuse_library(struct state *state, const garner_error *error, long long number,
                           const char *operator, const char * name)
{
    static const char prefix[] = "cuda: ";
    const bool begins = strncmp(error->message, prefix, sizeof prefix - 1) == 0;
    raise_error(
        state, GARNER_BAD_TYPE,
        "%s: %s is on cuda:%lld, where garner cannot gather: %s. Or copy it to the CPU's memory", operator,
        name, number, error->message + (begins ? sizeof prefix - 1 : 0));
}

bool device_take_place(struct state *state, struct operand *operand, long long type, long long number,
                       const char *operator, const char * name)
{
    garner_error error;
    const bool is_cuda = type == kDLCUDA || type == kDLCUDAManaged;
    operand->place.device = -1;
    if (type == kDLCPU || type == kDLCUDAHost || type == kDLROCMHost) return true;
    if (!operand->anywhere || !is_cuda || number < 0 || number >= MOST_DEVICES) {
        refuse(state, operand, type, number, operator, name);
        return false;
    }
    if (device_library_get(&error) == NULL) {
        refuse_library(state, &error, number, operator, name);
        return false;
    }
    operand->place.device = (int32_t)number;
    return true;
}

/* ---- When ------------------------------------------------------------------------------------ */

PyObject *device_help(const char *function, const char *format, ...)
{
    va_list given;
    PyObject *helper = PyImport_ImportModule("garner._cuda");
    PyObject *method = helper ? PyObject_GetAttrString(helper, function) : NULL;
    va_start(given, format);
    PyObject *arguments = method ? Py_VaBuildValue(format, given) : NULL;
    va_end(given);
    PyObject *answer = arguments ? PyObject_CallObject(method, arguments) : NULL;
    Py_XDECREF(arguments);
    Py_XDECREF(method);
    Py_XDECREF(helper);
    return answer;
}

void device_take_stream(struct operand *operand, const DLPackExchangeAPI *functions)
{
    void *stream = NULL;
    if (operand->place.device < 0 || functions->current_work_stream == NULL) return;
    if (functions->current_work_stream(kDLCUDA, operand->place.device, &stream) != 0) {
        PyErr_Clear();
        return;
    }
    operand->place.stream = stream == (void *)LEGACY_STREAM ? NULL : stream;
    operand->place.pooled = true;
}

/* The current stream of the object's library; false if it has none, or with an exception. */
static bool current_stream(const struct operand *operand, PyObject *object, void **stream)
{
    PyObject *number = device_help("stream", "(Oi)", object, (int)operand->place.device);
    const bool known = number && number != Py_None;
    const unsigned long long handle = known ? PyLong_AsUnsignedLongLong(number) : 0;
    Py_XDECREF(number);
    *stream = handle == LEGACY_STREAM ? NULL : (void *)(uintptr_t)handle;
    return known && !PyErr_Occurred();
}

PyObject *device_ask_stream(struct operand *operand, PyObject *object)
{
    struct place *place = &operand->place;
    void *own, *wanted;
    const bool has_own = current_stream(operand, object, &own);
    if (PyErr_Occurred()) return NULL;
    wanted = operand->beside ? operand->beside->place.stream : own;
    place->stream = wanted;
    place->pooled = has_own && own == wanted;
    if (place->pooled) return PyLong_FromLong(NO_ORDER); /* its work and ours are in one order as they are */
    return PyLong_FromUnsignedLongLong(wanted ? (uintptr_t)wanted : LEGACY_STREAM);
}
