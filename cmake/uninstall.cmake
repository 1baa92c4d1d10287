# SPDX-License-Identifier: MIT
#
# Removes the files that the last install wrote (MANIFEST lists them), and garner's own folder.
# DESTDIR is honoured as it was by install. If PREFIX is given, the install must have gone there.
if(NOT EXISTS "${MANIFEST}")
    message(FATAL_ERROR "nothing to uninstall: there is no ${MANIFEST}")
endif()
file(STRINGS "${MANIFEST}" files)

if(DEFINED PREFIX)
    foreach(file IN LISTS files)
        cmake_path(IS_PREFIX PREFIX "${file}" inside)
        if(NOT inside)
            message(FATAL_ERROR "the last install wrote ${file}, not under ${PREFIX}: give the same PREFIX")
        endif()
    endforeach()
endif()

foreach(file IN LISTS files)
    file(REMOVE "$ENV{DESTDIR}${file}")
    message(STATUS "Removed: $ENV{DESTDIR}${file}")
    cmake_path(GET file PARENT_PATH folder)
    if(folder MATCHES "/cmake/garner$")
        file(GLOB left "$ENV{DESTDIR}${folder}/*")
        if(NOT left)
            file(REMOVE_RECURSE "$ENV{DESTDIR}${folder}")
        endif()
    endif()
endforeach()
file(REMOVE "${MANIFEST}")
