#include "CCounters.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int counters_open(void) {
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

uint64_t counters_read(int counter) {
    uint64_t value = 0;
    return read(counter, &value, sizeof value) == sizeof value ? value : 0;
}

// Valgrind recognises this sequence of instructions, which does nothing elsewhere.
static uint64_t request(uint64_t code, const void *argument) {
    uint64_t result = 0;
#if defined(__x86_64__)
    volatile uint64_t arguments[6] = {code, (uint64_t)argument, 0, 0, 0, 0};
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; xchgq %%rbx, %%rbx"
                     : "=d"(result)
                     : "a"(&arguments[0]), "0"(result)
                     : "cc", "memory");
#else
    (void)code;
    (void)argument;
#endif
    return result;
}

enum {
    running_on_valgrind = 0x1001,
    callgrind_base = 'C' << 24 | 'T' << 16,
    zero_stats = callgrind_base + 1,
    dump_stats_at = callgrind_base + 3,
    start_instrumentation = callgrind_base + 4,
    stop_instrumentation = callgrind_base + 5,
};

bool counters_valgrind(void) { return request(running_on_valgrind, NULL) != 0; }

void counters_callgrind_begin(void) {
    request(start_instrumentation, NULL);
    request(zero_stats, NULL);
}

void counters_callgrind_pause(void) { request(stop_instrumentation, NULL); }

void counters_callgrind_resume(void) { request(start_instrumentation, NULL); }

void counters_callgrind_end(const char *name) {
    request(dump_stats_at, name);
    request(stop_instrumentation, NULL);
}
