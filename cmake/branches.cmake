# SPDX-License-Identifier: MIT
#
# The x86-64 CPUs of the years 2015 to 2020 decode a loop anew each time it goes round if one of its jumps touches the end
# of 32 bytes, which makes kernels of a few instructions take up to twice as long. Where the assembler can keep jumps away
# from there, garner_branches is the option that asks it to.
include(CheckCCompilerFlag)

set(garner_branches "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    if(CMAKE_C_COMPILER_ID MATCHES Clang)
        set(option -mbranches-within-32B-boundaries)
    else()
        set(option -Wa,-mbranches-within-32B-boundaries)
    endif()
    check_c_compiler_flag(${option} GARNER_PLACES_BRANCHES)
    if(GARNER_PLACES_BRANCHES)
        set(garner_branches ${option})
    else()
        message(STATUS "garner: the assembler does not place jumps: slower on some x86-64 CPUs")
    endif()
endif()
