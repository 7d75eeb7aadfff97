#define _GNU_SOURCE
#include "CRealmShims.h"

#include <string.h>
#include <sys/prctl.h>

// The entry points of the Swift concurrency runtime. The standard library declares them to Swift under the same names
// with types that cannot be spelled there, hence this shim.
typedef struct {
    uintptr_t identity;
    uintptr_t implementation;
} crealm_executor_ref;

__attribute__((swiftcall)) extern crealm_executor_ref swift_task_getCurrentExecutor(void);
__attribute__((swiftcall)) extern bool swift_task_isCurrentExecutorWithFlags(crealm_executor_ref executor, uintptr_t flags);
__attribute__((swiftcall)) extern void *swift_task_getCurrent(void);

uintptr_t crealm_current_executor(void) { return swift_task_getCurrentExecutor().identity; }

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

uintptr_t crealm_current_task(void) { return (uintptr_t)swift_task_getCurrent(); }

bool crealm_is_main_thread(void) { return getpid() == (pid_t)syscall(SYS_gettid); }

void crealm_set_thread_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// Declared here because the dispatch headers need the blocks extension.
extern const char *dispatch_queue_get_label(void *queue);

const char *crealm_current_queue_label(void) {
    const char *label = dispatch_queue_get_label(NULL);
    // What the library answers where no queue runs the caller.
    return strcmp(label, "com.apple.root.default-qos.overcommit") == 0 ? NULL : label;
}
