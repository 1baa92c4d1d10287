# SPDX-License-Identifier: MIT
#
# What compilers and linkers offer against mistakes that come through all the same: canaries on the stack, checked calls of libc, stacks
# that are touched page by page, protected return addresses, a table of addresses that nobody writes after loading. An option is
# taken if a program that needs it compiles and links. Every target gets garner_hardening; what is different in the library
# is garner_core_hardening, in its kernels garner_kernel_hardening.
#
# The targets of indirect jumps are not marked (IBT, BTI): a binary counts as marked only if all of it is, kernels included, and
# marks at their entries are more than the size of the library allows (tests/package/size).
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

option(GARNER_HARDENING "Build with the compiler's hardening" ON)
set(garner_hardening "")
set(garner_hardening_optimised "") # what needs an optimising compiler
set(garner_hardening_links "")
set(garner_core_hardening "")
set(garner_kernel_hardening "")
check_pie_supported(LANGUAGES C) # so that POSITION_INDEPENDENT_CODE makes a program that is loaded anywhere
if(NOT GARNER_HARDENING OR GARNER_SANITIZE) # sanitizers see more, and not what libc checks
    message(STATUS "garner: built without hardening")
    return()
endif()

# Compiled as libraries are: on 32-bit machines those need another function of libc. Where the kernels are to be left out,
# that is the option WITHOUT.
function(garner_harden variable list flags without)
    set(CMAKE_REQUIRED_FLAGS "-O2 -fPIC -Werror ${flags}")
    check_c_source_compiles("#include <string.h>
        int main(int count, char **words) { char text[64]; strncpy(text, words[count - 1], 63); text[63] = 0; return text[0]; }"
        ${variable})
    if(${variable})
        separate_arguments(words UNIX_COMMAND "${flags}")
        set(${list} ${${list}} ${words} PARENT_SCOPE)
        set(garner_kernel_hardening ${garner_kernel_hardening} ${without} PARENT_SCOPE)
    endif()
endfunction()

# Kernels stay as they are: their indices are checked before they are used, and every instruction counts.
garner_harden(GARNER_HAS_STACK_PROTECTOR garner_hardening -fstack-protector-strong -fno-stack-protector)
garner_harden(GARNER_HAS_STACK_CLASH garner_hardening -fstack-clash-protection -fno-stack-clash-protection)
garner_harden(GARNER_HAS_CF_PROTECTION garner_hardening -fcf-protection=return "") # a mark: it adds no instructions
garner_harden(GARNER_HAS_BRANCH_PROTECTION garner_hardening -mbranch-protection=pac-ret -mbranch-protection=none)
# Another level, of the compiler or of a distribution, is replaced. A libc that knows no third one takes its second.
garner_harden(GARNER_HAS_FORTIFY garner_hardening_optimised "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3" -U_FORTIFY_SOURCE)

foreach(word relro now noexecstack)
    check_linker_flag(C -Wl,-z,${word} GARNER_LINKS_${word})
    if(GARNER_LINKS_${word})
        list(APPEND garner_hardening_links -Wl,-z,${word})
    endif()
endforeach()

# The library pays for its canaries with the stubs through which x86-64 calls libc: since all names are bound when it is loaded, it can
# call through the table.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND GARNER_LINKS_now)
    list(APPEND garner_core_hardening -fno-plt)
    list(APPEND garner_kernel_hardening -fplt)
endif()
# On aarch64 canaries alone fit into the size of the library, and of those the ones beside arrays of characters.
if(GARNER_HAS_BRANCH_PROTECTION)
    list(APPEND garner_core_hardening -mbranch-protection=none)
    if(GARNER_HAS_STACK_PROTECTOR)
        list(APPEND garner_core_hardening -fstack-protector)
    endif()
    if(GARNER_HAS_STACK_CLASH)
        list(APPEND garner_core_hardening -fno-stack-clash-protection)
    endif()
endif()
