# SPDX-License-Identifier: MIT
#
# Tables in files: the folder table/, and with what it needs of formats/ the library libgarner_files.so.
garner_layer(table garner_formats)
target_include_directories(garner_table PUBLIC include)
target_link_libraries(garner_table PRIVATE Threads::Threads)

set(uring_libraries "")
find_path(uring_include liburing.h)
find_library(uring_library uring)
if(uring_include AND uring_library)
    target_include_directories(garner_table SYSTEM PRIVATE ${uring_include})
    target_compile_definitions(garner_table PRIVATE GARNER_HAVE_LIBURING)
    set(uring_libraries ${uring_library})
    target_link_libraries(garner_table PRIVATE ${uring_libraries})
else()
    message(STATUS "garner: liburing not found: tables are read without io_uring (Debian: liburing-dev)")
endif()

if(GARNER_BUILD_FILES AND TARGET garner)
    add_library(garner_files SHARED $<FILTER:$<TARGET_OBJECTS:garner_formats>,EXCLUDE,/ir/> $<TARGET_OBJECTS:garner_table>)
    add_library(garner::files ALIAS garner_files)
    target_include_directories(garner_files INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(garner_files PUBLIC garner PRIVATE Threads::Threads m ${uring_libraries})
    if(ZLIB_FOUND)
        target_link_libraries(garner_files PRIVATE ZLIB::ZLIB)
    endif()
    set_target_properties(garner_files PROPERTIES LINKER_LANGUAGE C EXPORT_NAME files
                                                  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
    garner_exports(garner_files "garner_table_*")
    garner_own_target(garner_files)
else()
    message(STATUS "garner: libgarner_files.so is left out")
endif()
