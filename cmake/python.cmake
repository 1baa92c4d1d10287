# SPDX-License-Identifier: MIT
#
# The extension module garner._garner of the Python package, and what else its wheel carries. Built by pip through
# pyproject.toml, or by hand with GARNER_BUILD_PYTHON. One binary serves every CPython from 3.11 on; a free-threaded
# Python, which has no such interface yet, gets one of its own from the same sources.
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -c "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"
                OUTPUT_VARIABLE python_is_free_threaded OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

file(GLOB python_sources CONFIGURE_DEPENDS python/src/*.c)
Python_add_library(garner_python MODULE ${python_sources})
target_link_libraries(garner_python PRIVATE garner_model garner_draw garner_table m)
set_target_properties(garner_python PROPERTIES OUTPUT_NAME _garner C_VISIBILITY_PRESET hidden
                                               LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/garner)
garner_exports(garner_python PyInit__garner)
# A call finds its own code driven out of the caches by the work of the last one: the less there is to fetch, the better.
if(CMAKE_C_COMPILER_ID STREQUAL GNU AND NOT GARNER_SANITIZE)
    include(CheckIPOSupported)
    check_ipo_supported(RESULT can_link_time_optimize LANGUAGES C)
    set_target_properties(garner_python PROPERTIES INTERPROCEDURAL_OPTIMIZATION_RELEASE ${can_link_time_optimize})
    target_compile_options(garner_python PRIVATE $<$<CONFIG:Release>:-fno-plt>)
    target_link_options(garner_python PRIVATE $<$<CONFIG:Release>:-Wl,-z,now>)
endif()
if(python_is_free_threaded EQUAL 1)
    target_compile_definitions(garner_python PRIVATE GARNER_PYTHON_WHOLE_API)
    message(STATUS "garner: a free-threaded Python: the module is for this version alone")
else()
    set_target_properties(garner_python PROPERTIES SUFFIX .abi3.so)
endif()
garner_own_target(garner_python)

# The package as it will be installed, for PYTHONPATH=build/python while working.
file(GLOB python_files CONFIGURE_DEPENDS python/garner/*)
set_property(TARGET garner_python APPEND PROPERTY LINK_DEPENDS ${python_files}) # a change is copied, too
add_custom_command(TARGET garner_python POST_BUILD
                   COMMAND ${CMAKE_COMMAND} -E copy_if_different ${python_files} $<TARGET_FILE_DIR:garner_python>
                   VERBATIM)

install(TARGETS garner_python DESTINATION garner COMPONENT python)
if(TARGET garner_onnxruntime)
    add_dependencies(garner_onnxruntime garner_python) # which makes the folder
    add_custom_command(TARGET garner_onnxruntime POST_BUILD
                       COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:garner_onnxruntime> $<TARGET_FILE_DIR:garner_python>
                       VERBATIM)
    install(TARGETS garner_onnxruntime DESTINATION garner COMPONENT python)
endif()
if(TARGET garner_cuda)
    add_dependencies(garner_cuda garner_python) # which makes the folder
    add_custom_command(TARGET garner_cuda POST_BUILD
                       COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:garner_cuda> $<TARGET_FILE_DIR:garner_python>/libgarner_cuda.so
                       VERBATIM)
    install(FILES $<TARGET_FILE:garner_cuda> DESTINATION garner COMPONENT python RENAME libgarner_cuda.so)
elseif(GARNER_CUDA_BUILT AND EXISTS ${GARNER_CUDA_BUILT}) # by make already, which takes minutes
    file(REAL_PATH ${GARNER_CUDA_BUILT} cuda_built)
    install(FILES ${cuda_built} DESTINATION garner COMPONENT python RENAME libgarner_cuda.so)
endif()
include(cmake/openvino.cmake)
foreach(name IN LISTS garner_mpis)
    install(TARGETS garner_mpi_${name} DESTINATION garner/_mpi/${name} COMPONENT python)
endforeach()

# python -m garner.bench: the benchmark, the library that it measures, and what it compiles to do so.
install(DIRECTORY bench/garner_bench bench/native DESTINATION garner/_bench COMPONENT python
        PATTERN __pycache__ EXCLUDE)
install(FILES bench/workloads.tsv DESTINATION garner/_bench COMPONENT python)
install(FILES include/garner.h DESTINATION garner/_bench/include COMPONENT python)
if(TARGET garner)
    install(FILES $<TARGET_FILE:garner> DESTINATION garner/_bench COMPONENT python RENAME $<TARGET_SONAME_FILE_NAME:garner>)
endif()
if(TARGET garner_cli AND DEFINED SKBUILD_SCRIPTS_DIR)
    install(TARGETS garner_cli DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT python)
endif()

# What is linked statically and wants its notice to go with it: tools/wheels names a folder of such notices.
if(GARNER_NOTICES AND DEFINED SKBUILD_METADATA_DIR)
    install(DIRECTORY ${GARNER_NOTICES}/ DESTINATION ${SKBUILD_METADATA_DIR}/licenses COMPONENT python)
endif()
