#ifndef CREALM_ISOLATION_H
#define CREALM_ISOLATION_H

#include <stdbool.h>
#include <stdint.h>

// Entry points of the Swift concurrency runtime. The standard library declares them to Swift under the same names with
// types that cannot be spelled there.
typedef struct {
    uintptr_t identity;
    uintptr_t implementation;
} crealm_executor_ref;

__attribute__((swiftcall)) extern crealm_executor_ref swift_task_getCurrentExecutor(void);

// The place of a caller that no serial executor runs: that of the main executor on the process's first thread outside of
// tasks; else an odd word above 1 that no other thread ever has, nor another task on the same thread.
uintptr_t crealm_place_outside_executors(void);

// The place where the caller runs: the identity of the serial executor, or what stands for it. Never 0 and never 1. Two
// callers with equal places may use the same live objects. The reverse does not hold: who runs on a dispatch queue, or in
// a task without an executor that another one interrupted, may have another word and has to be looked at again.
//
// `pure` so that Swift needs no retain and release around the call. A caller that may have been suspended or has called
// anything that could move it asks again, because the call reads memory.
__attribute__((pure)) static inline uintptr_t crealm_current_place(void) {
    uintptr_t executor = swift_task_getCurrentExecutor().identity;
    return __builtin_expect(executor != 0, 1) ? executor : crealm_place_outside_executors();
}

// The word that says where a realm is used, read and written as a whole: who asks from elsewhere whether it would be
// refused may read it while the realm's own isolation writes it. Each is one plain instruction on x86-64 and arm64.
static inline uintptr_t crealm_load_place(const void *word) {
    return __atomic_load_n((const uintptr_t *)word, __ATOMIC_RELAXED);
}

static inline void crealm_store_place(void *word, uintptr_t place) {
    __atomic_store_n((uintptr_t *)word, place, __ATOMIC_RELAXED);
}

// The serial executor that runs the current task; 0 outside every task and on the concurrent pool.
crealm_executor_ref crealm_current_executor(void);
// The executor of the main actor.
uintptr_t crealm_main_executor(void);
// Whether the current context is isolated to the executor: asks its checks too, and never aborts.
bool crealm_is_current_executor(uintptr_t identity, uintptr_t implementation);
// Whether the calling thread is one of those that run tasks outside of actors and default actors.
bool crealm_is_on_pool(void);
// The current task's number, which no other task ever has; 0 outside every task.
uint64_t crealm_current_task(void);
// The calling thread's number, which no other thread ever has.
uint64_t crealm_current_thread(void);
// Whether the calling thread is the process's first one.
bool crealm_is_main_thread(void);
// Names the calling thread; at most 15 bytes.
void crealm_set_thread_name(const char *name);
// The label of the dispatch queue that runs the caller; NULL on threads of their own.
const char *crealm_current_queue_label(void);
// Whether the dispatch queue that runs the caller, or one that it targets, has a value for the key.
bool crealm_queue_has_specific(const void *key);

#endif
