#define _GNU_SOURCE
#include "CRealmShims.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>

int crealm_futex_wait(const void *word, uint32_t expected, int64_t timeout_ns) {
    struct timespec ts, *tp = NULL;
    if (timeout_ns >= 0) {
        ts.tv_sec = timeout_ns / 1000000000;
        ts.tv_nsec = timeout_ns % 1000000000;
        tp = &ts;
    }
    if (syscall(SYS_futex, word, FUTEX_WAIT, expected, tp, NULL, 0) == 0) return 0;
    return errno;
}

int crealm_futex_wake_all(const void *word) {
    if (syscall(SYS_futex, word, FUTEX_WAKE, 0x7fffffff, NULL, NULL, 0) >= 0) return 0;
    return errno;
}

int crealm_ofd_lock(int fd, int type, int64_t start, int64_t length, int wait) {
    struct flock fl = {0};
    fl.l_type = (short)type;
    fl.l_whence = SEEK_SET;
    fl.l_start = start;
    fl.l_len = length;
    if (fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &fl) == 0) return 0;
    return errno;
}

int crealm_ofd_is_locked(int fd, int64_t start, int64_t length) {
    struct flock fl = {0};
    fl.l_type = F_WRLCK;
    fl.l_whence = SEEK_SET;
    fl.l_start = start;
    fl.l_len = length;
    if (fcntl(fd, F_OFD_GETLK, &fl) != 0) return -errno;
    return fl.l_type == F_UNLCK ? 0 : 1;
}

int crealm_open(const char *path, int flags, uint32_t mode) {
    // Nobody can write to what is opened for reading only: where it came instead of a standard stream is seen behind that.
    if ((flags & (O_ACCMODE | O_CREAT)) == O_RDONLY) {
        int fd = open(path, flags, (mode_t)mode);
        if (fd < 0 || fd > STDERR_FILENO) return fd;
        close(fd);
    }
    // Whoever writes to a standard stream that is closed must not write to a file of ours, not even for as long as it takes to
    // move that to another descriptor: free ones are taken by something else meanwhile.
    int holders[STDERR_FILENO + 1], count = 0;
    struct pollfd standard[STDERR_FILENO + 1];
    for (int fd = 0; fd <= STDERR_FILENO; fd++) standard[fd] = (struct pollfd){.fd = fd};
    // One call for all of them.
    int known = poll(standard, STDERR_FILENO + 1, 0) >= 0;
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (known ? !(standard[fd].revents & POLLNVAL) : fcntl(fd, F_GETFD) >= 0) continue;
        int holder = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (holder < 0) break;
        holders[count++] = holder;
    }
    int fd = open(path, flags, (mode_t)mode);
    int failure = errno;
    while (count > 0) close(holders[--count]);
    errno = failure;
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int error = errno;
    close(fd);
    errno = error;
    return high;
}

int crealm_open_unnamed(const char *directory, uint32_t mode) {
    return crealm_open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}

int crealm_link_unnamed(int fd, const char *path) {
    char source[32];
    snprintf(source, sizeof source, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, source, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

int crealm_file_status(int fd, int64_t *byte_count, uint32_t *link_count) {
    struct statx status;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_SIZE | STATX_NLINK, &status) == 0) {
        *byte_count = (int64_t)status.stx_size;
        *link_count = status.stx_nlink;
        return 0;
    }
    // Sandboxes that do not know the call answer so.
    if (errno != ENOSYS && errno != EPERM && errno != EINVAL) return errno;
    struct stat old;
    if (fstat(fd, &old) != 0) return errno;
    *byte_count = (int64_t)old.st_size;
    *link_count = (uint32_t)old.st_nlink;
    return 0;
}

int crealm_rename_new(const char *from, const char *to) {
    if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
    // File systems and sandboxes that do not know the call answer so.
    if (errno != EINVAL && errno != ENOSYS && errno != EPERM) return errno;
    if (link(from, to) != 0) return errno;
    unlink(from);
    return 0;
}

static const char access_list[] = "system.posix_acl_access";

int crealm_has_access_list(int fd) {
    if (fgetxattr(fd, access_list, NULL, 0) >= 0) return 1;
    return errno == ENODATA || errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -errno;
}

int crealm_copy_access_list(int from, int to) {
    int has = crealm_has_access_list(from);
    if (has < 0) return -has;
    if (has == 0) {
        if (crealm_has_access_list(to) == 0) return 0;
        // What the folder gives to new files.
        return fremovexattr(to, access_list) == 0 || errno == ENODATA || errno == EOPNOTSUPP ? 0 : errno;
    }
    // The longest that an attribute can be.
    size_t limit = 1 << 16;
    void *list = malloc(limit);
    if (list == NULL) return ENOMEM;
    ssize_t count = fgetxattr(from, access_list, list, limit);
    int error = count < 0 || fsetxattr(to, access_list, list, (size_t)count, 0) != 0 ? errno : 0;
    free(list);
    return error;
}

int crealm_punch_hole(int fd, int64_t offset, int64_t byte_count) {
    return fallocate(fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, offset, byte_count) == 0 ? 0 : errno;
}

int64_t crealm_file_size_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INT64_MAX;
    return limit.rlim_cur > INT64_MAX ? INT64_MAX : (int64_t)limit.rlim_cur;
}

int64_t crealm_preferred_reservation(void) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    return (int64_t)1 << 30;
#endif
#endif
    return (int64_t)256 << 30;
}
