# SPDX-License-Identifier: MIT
#
# libgarner_mpi.so, once for each MPI that is installed: their binary interfaces differ. Each lies in a folder of the MPI's
# name, mpi/openmpi and mpi/mpich here, lib/garner/openmpi and lib/garner/mpich where it is installed; the command and the
# Python package load the one that they run under.
garner_folder(mpi)

# The folders and libraries of an MPI, out of the command line that its compiler shows.
function(garner_mpi name compiler)
    execute_process(COMMAND ${compiler} -show OUTPUT_VARIABLE line RESULT_VARIABLE failed ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(failed)
        message(STATUS "garner: ${compiler} does not work: libgarner_mpi for ${name} is left out")
        return()
    endif()
    separate_arguments(words UNIX_COMMAND "${line}")
    set(includes ${words})
    list(FILTER includes INCLUDE REGEX "^-I")
    list(TRANSFORM includes REPLACE "^-I" "")
    list(FILTER words INCLUDE REGEX "^-[Ll]")
    set(target garner_mpi_${name})
    add_library(${target} SHARED ${mpi_sources})
    target_include_directories(${target} PRIVATE ${mpi_folders})
    target_include_directories(${target} SYSTEM PRIVATE ${includes})
    target_link_libraries(${target} PRIVATE garner_formats ${words})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME garner_mpi C_VISIBILITY_PRESET hidden
                                               LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/mpi/${name})
    garner_exports(${target} "garner_mpi_*")
    garner_own_target(${target})
    set(garner_mpis ${garner_mpis} ${name} PARENT_SCOPE)
endfunction()

# Debian gives each compiler a name of its own; elsewhere there is one mpicc, and its header says whose.
set(garner_mpis "")
foreach(name openmpi mpich)
    find_program(GARNER_MPICC_${name} NAMES mpicc.${name})
    if(GARNER_MPICC_${name})
        garner_mpi(${name} ${GARNER_MPICC_${name}})
    endif()
endforeach()
find_program(GARNER_MPICC NAMES mpicc)
if(GARNER_MPICC AND NOT garner_mpis)
    file(WRITE ${PROJECT_BINARY_DIR}/which_mpi.c "#include <mpi.h>\n#ifdef OPEN_MPI\nis openmpi\n#else\nis mpich\n#endif\n")
    execute_process(COMMAND ${GARNER_MPICC} -E ${PROJECT_BINARY_DIR}/which_mpi.c OUTPUT_VARIABLE text ERROR_QUIET)
    if(text MATCHES "is (openmpi|mpich)")
        garner_mpi(${CMAKE_MATCH_1} ${GARNER_MPICC})
    endif()
endif()
if(NOT garner_mpis)
    message(STATUS "garner: no MPI found: libgarner_mpi is left out (Debian: libopenmpi-dev, libmpich-dev)")
endif()
