// Put before the C library (LD_PRELOAD), counts the system calls that a program makes on the files of one folder, and fails,
// shortens or dies in the one that it is told to. The control block lies in a shared file, so that a test can arm it at any
// moment:
//
//   FAILING_CALLS_FOLDER   the calls that count are those on files in this folder
//   FAILING_CALLS_CONTROL  a file of at least sizeof(struct control) bytes
//
// clang -O1 -shared -fPIC -o failing-calls.so failing-calls.c -ldl -lpthread

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum mode {
    COUNT_ONLY,
    FAIL_ONCE,
    FAIL_FROM_HERE_ON,
    SHORT_ONCE,     // writes half of what it was given
    DIE_BEFORE,
    DIE_WITHIN,     // writes half of what it was given, then dies
    DIE_AFTER,
};

enum call { OPEN, WRITE, FLUSH, TRUNCATE, MAP, LOCK, NAME, EXAMINE, THREAD, CALL_COUNT };

struct control {
    _Atomic int64_t count;     // calls of the kinds below that were made since arming
    _Atomic int64_t at;        // the call that fails, the first being 0; negative for none
    _Atomic int32_t error;
    _Atomic int32_t mode;
    _Atomic uint32_t kinds;    // bits of enum call
    _Atomic int32_t last_kind; // the kind of the call that failed
};

static struct control nothing = {0, -1, 0, 0, 0, 0};
static struct control *control = &nothing;
static const char *folder;
static unsigned char watched[65536];

__attribute__((constructor)) static void start(void) {
    folder = getenv("FAILING_CALLS_FOLDER");
    const char *path = getenv("FAILING_CALLS_CONTROL");
    if (!folder || !path) return;
    int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
    int fd = next(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    void *memory = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (memory != MAP_FAILED) control = memory;
}

static int is_watched(int fd) { return fd >= 0 && fd < (int)sizeof watched && watched[fd]; }

static int is_inside(const char *path) { return folder && strncmp(path, folder, strlen(folder)) == 0; }

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

// The mode that applies to this call, and COUNT_ONLY for none.
static int step(enum call kind) {
    if (!(control->kinds & (1u << kind))) return COUNT_ONLY;
    int64_t number = atomic_fetch_add(&control->count, 1);
    int64_t at = control->at;
    int mode = control->mode;
    if (at < 0 || number < at || (number > at && mode != FAIL_FROM_HERE_ON)) return COUNT_ONLY;
    control->last_kind = kind;
    if (mode == DIE_BEFORE) die();
    return mode;
}

#define REAL(result, name, ...) \
    static result (*next)(__VA_ARGS__); \
    if (!next) next = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

#define FAILS(mode) ((mode) == FAIL_ONCE || (mode) == FAIL_FROM_HERE_ON)

#define PLAIN(kind, failure, ...) \
    int mode = step(kind); \
    if (FAILS(mode)) { errno = control->error; return failure; } \
    __auto_type result = next(__VA_ARGS__); \
    if (mode == DIE_AFTER || mode == DIE_WITHIN) die(); \
    return result

static int opened(int fd, const char *path) {
    if (fd >= 0 && fd < (int)sizeof watched) watched[fd] = is_inside(path);
    return fd;
}

int open(const char *path, int flags, ...) {
    REAL(int, "open", const char *, int, ...);
    va_list list;
    va_start(list, flags);
    int mode_bits = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(list, int) : 0;
    va_end(list);
    if (!is_inside(path)) return opened(next(path, flags, mode_bits), path);
    int mode = step(OPEN);
    if (FAILS(mode)) { errno = control->error; return -1; }
    int fd = opened(next(path, flags, mode_bits), path);
    if (mode == DIE_AFTER || mode == DIE_WITHIN) die();
    return fd;
}

int open64(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    int mode_bits = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(list, int) : 0;
    va_end(list);
    return open(path, flags, mode_bits);
}

int close(int fd) {
    REAL(int, "close", int);
    if (fd >= 0 && fd < (int)sizeof watched) watched[fd] = 0;
    return next(fd);
}

ssize_t pwritev(int fd, const struct iovec *vectors, int count, off_t offset) {
    REAL(ssize_t, "pwritev", int, const struct iovec *, int, off_t);
    if (!is_watched(fd)) return next(fd, vectors, count, offset);
    int mode = step(WRITE);
    if (FAILS(mode)) { errno = control->error; return -1; }
    if (mode == SHORT_ONCE || mode == DIE_WITHIN) {
        size_t total = 0;
        for (int index = 0; index < count; index++) total += vectors[index].iov_len;
        struct iovec half = vectors[0];
        if (half.iov_len > total / 2) half.iov_len = total / 2;
        ssize_t written = next(fd, &half, 1, offset);
        if (mode == DIE_WITHIN) die();
        return written;
    }
    ssize_t written = next(fd, vectors, count, offset);
    if (mode == DIE_AFTER) die();
    return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
    if (!is_watched(fd)) return next(fd, bytes, count, offset);
    int mode = step(WRITE);
    if (FAILS(mode)) { errno = control->error; return -1; }
    if (mode == SHORT_ONCE || mode == DIE_WITHIN) {
        ssize_t written = next(fd, bytes, count / 2, offset);
        if (mode == DIE_WITHIN) die();
        return written;
    }
    ssize_t written = next(fd, bytes, count, offset);
    if (mode == DIE_AFTER) die();
    return written;
}

int fdatasync(int fd) {
    REAL(int, "fdatasync", int);
    if (!is_watched(fd)) return next(fd);
    PLAIN(FLUSH, -1, fd);
}

int fsync(int fd) {
    REAL(int, "fsync", int);
    if (!is_watched(fd)) return next(fd);
    PLAIN(FLUSH, -1, fd);
}

int ftruncate(int fd, off_t length) {
    REAL(int, "ftruncate", int, off_t);
    if (!is_watched(fd)) return next(fd, length);
    PLAIN(TRUNCATE, -1, fd, length);
}

int fallocate(int fd, int flags, off_t offset, off_t length) {
    REAL(int, "fallocate", int, int, off_t, off_t);
    if (!is_watched(fd)) return next(fd, flags, offset, length);
    PLAIN(TRUNCATE, -1, fd, flags, offset, length);
}

int fchmod(int fd, mode_t bits) {
    REAL(int, "fchmod", int, mode_t);
    if (!is_watched(fd)) return next(fd, bits);
    PLAIN(NAME, -1, fd, bits);
}

int link(const char *from, const char *to) {
    REAL(int, "link", const char *, const char *);
    if (!is_inside(to)) return next(from, to);
    PLAIN(NAME, -1, from, to);
}

int fstat(int fd, struct stat *status) {
    REAL(int, "fstat", int, struct stat *);
    if (!is_watched(fd)) return next(fd, status);
    PLAIN(EXAMINE, -1, fd, status);
}

int statx(int fd, const char *restrict path, int flags, unsigned mask, struct statx *restrict status) {
    REAL(int, "statx", int, const char *restrict, int, unsigned, struct statx *restrict);
    if (!is_watched(fd) || path[0] != 0) return next(fd, path, flags, mask, status);
    PLAIN(EXAMINE, -1, fd, path, flags, mask, status);
}

// Mappings of the files, and the large reservations that go with them.
void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    REAL(void *, "mmap", void *, size_t, int, int, int, off_t);
    if (!is_watched(fd) && length < ((size_t)64 << 20)) return next(address, length, protection, flags, fd, offset);
    PLAIN(MAP, MAP_FAILED, address, length, protection, flags, fd, offset);
}

int fcntl(int fd, int command, ...) {
    REAL(int, "fcntl", int, int, ...);
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (!is_watched(fd) || command < F_OFD_GETLK || command > F_OFD_SETLKW) return next(fd, command, argument);
    PLAIN(LOCK, -1, fd, command, argument);
}

int fcntl64(int fd, int command, ...) {
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    return fcntl(fd, command, argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    REAL(int, "pthread_create", pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (FAILS(step(THREAD))) return control->error;
    return next(thread, attributes, body, argument);
}
