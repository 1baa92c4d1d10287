# SPDX-License-Identifier: MIT
#
# What every target of this project shares, and no target of a project that uses it: the language,
# the warnings, the hardening, the sanitizers.
include(cmake/hardening.cmake)

set(garner_warnings -Wall -Wextra -Wconversion -Wshadow -Wpedantic)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    list(APPEND garner_warnings -Wno-pass-failed) # that a loop which may be unrolled was not is no fault
endif()
if(GARNER_WARNINGS_AS_ERRORS)
    list(APPEND garner_warnings -Werror)
endif()

set(garner_sanitizers "")
if(GARNER_SANITIZE)
    set(garner_sanitizers -fsanitize=${GARNER_SANITIZE})
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        list(APPEND garner_sanitizers -Wno-stringop-overflow) # of sizes that cannot be, beside what it put in itself
    endif()
    message(STATUS "garner: built with -fsanitize=${GARNER_SANITIZE}")
endif()

function(garner_own_target target)
    set_target_properties(${target} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
    target_compile_options(${target} PRIVATE ${garner_warnings} ${garner_hardening}
                                             $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:${garner_hardening_optimised}>)
    target_link_options(${target} PRIVATE ${garner_hardening_links})
    if(garner_sanitizers)
        target_compile_options(${target} PRIVATE ${garner_sanitizers} -fno-sanitize-recover=all
                                                 -fno-omit-frame-pointer -g1 $<$<NOT:$<CONFIG:Debug>>:-O1>)
        target_link_options(${target} PRIVATE ${garner_sanitizers})
        # The tables of the sanitizers have an address for each check: a program that is loaded anywhere adjusts them all whenever it
        # starts, which takes longer than most commands of the tests. (ThreadSanitizer wants such programs.)
        get_target_property(type ${target} TYPE)
        if(GARNER_SANITIZE MATCHES "address" AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND type STREQUAL "EXECUTABLE")
            set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
        endif()
    endif()
endfunction()

# What a module gives to those who load it: these names, and none of the archives that it is linked with.
function(garner_exports target)
    list(JOIN ARGN "; " names)
    set(script ${CMAKE_CURRENT_BINARY_DIR}/${target}.map)
    file(CONFIGURE OUTPUT ${script} CONTENT "{ global: @names@; local: *; };\n" @ONLY)
    target_link_options(${target} PRIVATE -Wl,--version-script=${script})
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${script})
endfunction()
