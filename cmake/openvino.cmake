# SPDX-License-Identifier: MIT
#
# What the wheel carries of the OpenVINO extension. Its C++ is compiled on the user's machine, against the openvino that is
# installed there (python/garner/openvino.py); the C that it stands on, the library included, is compiled here, as an archive.
add_library(garner_layer STATIC openvino/layer.c plugin/plans.c $<TARGET_OBJECTS:garner_objects>)
target_include_directories(garner_layer PRIVATE include plugin)
set_target_properties(garner_layer PROPERTIES C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
garner_own_target(garner_layer)

set(extension_sources openvino/choice.cpp openvino/choice.hpp openvino/extension.cpp openvino/faults.cpp openvino/faults.hpp
    openvino/operators.cpp openvino/operators.hpp openvino/layer.h include/garner.h)
list(TRANSFORM extension_sources PREPEND ${PROJECT_SOURCE_DIR}/)
set_property(TARGET garner_layer APPEND PROPERTY LINK_DEPENDS ${extension_sources}) # a change is copied, too
add_dependencies(garner_layer garner_python) # which makes the folder
add_custom_command(TARGET garner_layer POST_BUILD
                   COMMAND ${CMAKE_COMMAND} -E make_directory $<TARGET_FILE_DIR:garner_python>/_openvino
                   COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:garner_layer> ${extension_sources}
                           $<TARGET_FILE_DIR:garner_python>/_openvino
                   VERBATIM)
install(FILES $<TARGET_FILE:garner_layer> ${extension_sources} DESTINATION garner/_openvino COMPONENT python)
