# SPDX-License-Identifier: MIT
#
# The plug-in for ONNX Runtime, libgarner_onnxruntime.so: one binary for every version from 1.24 on. It needs nothing of
# ONNX Runtime to be built, and is loaded by it, never linked.
file(GLOB onnxruntime_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/onnxruntime/*.c ${PROJECT_SOURCE_DIR}/plugin/*.c)
add_library(garner_onnxruntime MODULE ${onnxruntime_sources})
target_include_directories(garner_onnxruntime PRIVATE plugin)
target_link_libraries(garner_onnxruntime PRIVATE garner_static Threads::Threads)
set_target_properties(garner_onnxruntime PROPERTIES C_VISIBILITY_PRESET hidden)
# nodelete: a session may outlive the registration, after which the runtime unloads the library.
target_link_options(garner_onnxruntime PRIVATE -Wl,-z,nodelete)
garner_exports(garner_onnxruntime CreateEpFactories ReleaseEpFactory)
garner_own_target(garner_onnxruntime)
