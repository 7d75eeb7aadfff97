#ifndef CREALM_SHIMS_H
#define CREALM_SHIMS_H

#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "CRealmDiscovery.h"
#include "RealmIsolation.h"

// The calling thread's identity. `pure` (not `const`) so that coroutines re-read it after a suspension
// and the Swift caller needs no retain/release around the call.
__attribute__((pure)) static inline uintptr_t crealm_thread_word(void) {
    return (uintptr_t)__builtin_thread_pointer();
}

// Waits while *word == expected; relative timeout in nanoseconds, negative for none. Returns 0 or an errno value.
int crealm_futex_wait(const void *word, uint32_t expected, int64_t timeout_ns);
// Wakes every waiter on the word, in this process and in others.
int crealm_futex_wake_all(const void *word);

// Open-file-description locks on `length` bytes at `start`. type: F_RDLCK, F_WRLCK or F_UNLCK. Return 0 or errno.
int crealm_ofd_lock(int fd, int type, int64_t start, int64_t length, int wait);
// 1 when another open file description holds a conflicting lock, 0 when free, -errno on failure.
int crealm_ofd_is_locked(int fd, int64_t start, int64_t length);

// The length of an open file and the number of its names, without asking for its times. Returns 0 or an errno value.
int crealm_file_status(int fd, int64_t *byte_count, uint32_t *link_count);

// As open(), but never one of the descriptors 0 to 2; closed when another program is started.
int crealm_open(const char *path, int flags, uint32_t mode);

// Gives a file another name, which nothing has yet, in one step. Returns 0 or an errno value: EEXIST where something has the name.
int crealm_rename_new(const char *from, const char *to);

// Makes a file without a name in a directory, for reading and writing; -1, with errno, where the file system has none.
int crealm_open_unnamed(const char *directory, uint32_t mode);

// Gives such a file a name. Returns 0 or an errno value.
int crealm_link_unnamed(int fd, const char *path);

// 1 when a file has an access list, 0 when it has none, -errno where that cannot be told.
int crealm_has_access_list(int fd);

// Gives a file the access list of another one, or none where that has none. Returns 0 or an errno value.
int crealm_copy_access_list(int from, int to);

// Gives the memory or disk space of a stretch of a file back, which reads as zeros then. Returns 0 or an errno value.
int crealm_punch_hole(int fd, int64_t offset, int64_t byte_count);

// How many bytes a file may have that this process writes, by its limits; INT64_MAX where nothing limits it. A write or a new
// length beyond that ends the process by SIGXFSZ, unless the program ignores the signal.
int64_t crealm_file_size_limit(void);

// The address space to reserve for a file: little under the thread sanitizer, which leaves a program about a terabyte.
int64_t crealm_preferred_reservation(void);

#endif
