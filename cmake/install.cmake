# SPDX-License-Identifier: MIT
#
# What `cmake --install` writes: the libraries, the headers, the CMake package, the pkg-config files, the
# command, its man page and completions, the plug-in for ONNX Runtime, the library for GPUs. Everything is relative to the prefix, so the
# tree may be moved afterwards.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/garner)

install(TARGETS ${garner_libraries} EXPORT garnerTargets)
install(FILES include/garner.h include/garner_dlpack.h TYPE INCLUDE)
install(EXPORT garnerTargets NAMESPACE garner:: DESTINATION ${package_dir})

configure_package_config_file(cmake/garnerConfig.cmake.in garnerConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(garnerConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/garnerConfig.cmake ${PROJECT_BINARY_DIR}/garnerConfigVersion.cmake
        DESTINATION ${package_dir})

file(RELATIVE_PATH pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/garner.pc.in garner.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/garner.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET garner_files)
    install(TARGETS garner_files EXPORT garnerTargets)
    install(FILES include/garner_table.h TYPE INCLUDE)
    configure_file(cmake/garner-files.pc.in garner-files.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/garner-files.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
if(TARGET garner_cuda)
    install(TARGETS garner_cuda EXPORT garnerTargets)
    install(FILES include/garner_cuda.h TYPE INCLUDE)
    configure_file(cmake/garner-cuda.pc.in garner-cuda.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/garner-cuda.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
if(TARGET garner_cli)
    install(TARGETS garner_cli)
endif()
if(TARGET garner_onnxruntime)
    install(TARGETS garner_onnxruntime DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
foreach(name IN LISTS garner_mpis)
    install(TARGETS garner_mpi_${name} DESTINATION ${CMAKE_INSTALL_LIBDIR}/garner/${name})
    install(FILES include/garner_mpi.h TYPE INCLUDE)
endforeach()
if(TARGET garner_man)
    install(FILES ${man_page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${completions}/garner DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${completions}/_garner DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${completions}/garner.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

if(PROJECT_IS_TOP_LEVEL)
    add_custom_target(uninstall
        COMMAND ${CMAKE_COMMAND} -D MANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
                -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake
        COMMENT "Removing what the last install wrote" VERBATIM)
endif()
