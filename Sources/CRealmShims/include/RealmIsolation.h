#ifndef CREALM_ISOLATION_H
#define CREALM_ISOLATION_H

#include <stdbool.h>
#include <stdint.h>

// The identity word of the serial executor that runs the current task; 0 outside every task and on the concurrent pool.
uintptr_t crealm_current_executor(void);
// Whether the current context is isolated to the executor: asks its checks too, and never aborts.
bool crealm_is_current_executor(uintptr_t identity, uintptr_t implementation);
// Whether the calling thread is one of those that run tasks outside of actors and default actors.
bool crealm_is_on_pool(void);
// The current task's identity; 0 outside every task.
uintptr_t crealm_current_task(void);
// Whether the calling thread is the process's first one.
bool crealm_is_main_thread(void);
// Names the calling thread; at most 15 bytes.
void crealm_set_thread_name(const char *name);
// The label of the dispatch queue that runs the caller; NULL on threads of their own.
const char *crealm_current_queue_label(void);

#endif
