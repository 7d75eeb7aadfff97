#define _GNU_SOURCE
#include "CRealmShims.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>

__attribute__((swiftcall)) extern bool swift_task_isCurrentExecutorWithFlags(crealm_executor_ref executor, uintptr_t flags);
__attribute__((swiftcall)) extern crealm_executor_ref swift_task_getMainExecutor(void);
__attribute__((swiftcall)) extern void *swift_task_getCurrent(void);
__attribute__((swiftcall)) extern uint64_t swift_task_getJobTaskId(void *job);

// What a thread knows of itself.
static _Thread_local struct {
    // 0 until the thread was asked for it.
    uintptr_t place;
    bool is_initial;
    // The last task outside of executors that asked, and the word of its place.
    uint64_t task;
    uintptr_t task_place;
} self;

// Places are given out once, and never again.
static _Atomic(uintptr_t) last_place = 1;

static uintptr_t new_place(void) { return atomic_fetch_add_explicit(&last_place, 2, memory_order_relaxed) + 2; }

__attribute__((noinline)) static void learn_of_self(void) {
    self.is_initial = getpid() == (pid_t)syscall(SYS_gettid);
    self.place = new_place();
}

uintptr_t crealm_main_executor(void) {
    static _Atomic(uintptr_t) known;
    uintptr_t main = atomic_load_explicit(&known, memory_order_relaxed);
    if (__builtin_expect(main == 0, 0)) {
        main = swift_task_getMainExecutor().identity;
        atomic_store_explicit(&known, main, memory_order_relaxed);
    }
    return main;
}

uintptr_t crealm_place_outside_executors(void) {
    void *task = swift_task_getCurrent();
    if (__builtin_expect(self.place == 0, 0)) learn_of_self();
    if (!task) return self.is_initial ? crealm_main_executor() : self.place;
    uint64_t number = swift_task_getJobTaskId(task);
    if (self.task != number) {
        self.task = number;
        self.task_place = new_place();
    }
    return self.task_place;
}

uint64_t crealm_current_thread(void) {
    if (self.place == 0) learn_of_self();
    return self.place;
}

crealm_executor_ref crealm_current_executor(void) { return swift_task_getCurrentExecutor(); }

bool crealm_is_current_executor(uintptr_t identity, uintptr_t implementation) {
    crealm_executor_ref executor = {identity, implementation};
    return swift_task_isCurrentExecutorWithFlags(executor, 0);
}

bool crealm_is_on_pool(void) {
    if (!swift_task_getCurrent()) return false;
    crealm_executor_ref executor = swift_task_getCurrentExecutor();
    // Default actors have no witness table; the low bits are flags.
    return executor.identity == 0 || (executor.implementation & ~(uintptr_t)7) == 0;
}

uint64_t crealm_current_task(void) {
    void *task = swift_task_getCurrent();
    return task ? swift_task_getJobTaskId(task) : 0;
}

bool crealm_is_main_thread(void) {
    if (self.place == 0) learn_of_self();
    return self.is_initial;
}

void crealm_set_thread_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// Declared here because the dispatch headers need the blocks extension.
extern const char *dispatch_queue_get_label(void *queue);
extern void *dispatch_get_specific(const void *key);

const char *crealm_current_queue_label(void) {
    const char *label = dispatch_queue_get_label(NULL);
    // What the library answers where no queue runs the caller.
    return strcmp(label, "com.apple.root.default-qos.overcommit") == 0 ? NULL : label;
}

bool crealm_queue_has_specific(const void *key) { return dispatch_get_specific(key) != NULL; }
