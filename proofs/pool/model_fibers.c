/* SPDX-License-Identifier: MIT */
/* Fibers: stacks of their own at fixed addresses, so that copying one back is going back in time. */
#include "model_world.h"

#include <string.h>

static _Alignas(64) unsigned char stacks[MOST_FIBERS][STACK_BYTES];
static void *scheduler;

unsigned char *fiber_stack(int fiber)
{
    return stacks[fiber];
}

/* Pushes the registers that a function must keep, leaves its stack pointer in *from, and goes on at `to`. */
void switch_stacks(void **from, void *to);
#if defined(__aarch64__)
enum { FRAME = 12, RETURN_TO = 11 }; /* in words */
__asm__(".text\n.global switch_stacks\nswitch_stacks:\n"
        "stp x19, x20, [sp, -96]!\nstp x21, x22, [sp, 16]\nstp x23, x24, [sp, 32]\n"
        "stp x25, x26, [sp, 48]\nstp x27, x28, [sp, 64]\nstp x29, x30, [sp, 80]\n"
        "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
        "ldp x21, x22, [sp, 16]\nldp x23, x24, [sp, 32]\nldp x25, x26, [sp, 48]\n"
        "ldp x27, x28, [sp, 64]\nldp x29, x30, [sp, 80]\nldp x19, x20, [sp], 96\nret\n");
#elif defined(__x86_64__)
enum { FRAME = 8, RETURN_TO = 6 };
__asm__(".text\n.global switch_stacks\nswitch_stacks:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");
#endif

static void first_steps(void)
{
    struct fiber *self = &world.fiber[world.running];
    self->body(self->argument);
    *self = (struct fiber){.used = true, .finished = true, .view = self->view};
    fiber_suspend();
}

void fiber_begin(int number, void *(*body)(void *), void *argument)
{
    struct fiber *fiber = &world.fiber[number];
    uintptr_t *frame = (uintptr_t *)(void *)(stacks[number] + STACK_BYTES) - FRAME;
    memset(stacks[number], 0, STACK_BYTES);
    frame[RETURN_TO] = (uintptr_t)first_steps;
    *fiber = (struct fiber){.used = true, .stack_pointer = frame, .body = body, .argument = argument};
}

/* What lies below a stack's end is cleared: the same state shall look the same. */
void fiber_resume(int number)
{
    struct fiber *fiber = &world.fiber[number];
    world.running = (int8_t)number;
    switch_stacks(&scheduler, fiber->stack_pointer);
    world.running = -1;
    unsigned char *end = fiber->stack_pointer;
    size_t below = (size_t)(end - stacks[number]);
    size_t cleared = below < 2048 ? below : 2048;
    memset(end - cleared, 0, cleared);
}

void fiber_suspend(void)
{
    switch_stacks(&world.fiber[world.running].stack_pointer, scheduler);
}
