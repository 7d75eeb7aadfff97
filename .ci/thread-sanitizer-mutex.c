// Tells the thread sanitizer about the contended path of Synchronization.Mutex, which lies in a library that is not
// instrumented: without this every value behind a contended Mutex looks like a race.
//
//     clang -O1 -shared -fPIC -o mutex.so .ci/thread-sanitizer-mutex.c -ldl
//     swift build --build-tests --sanitize=thread
//     LD_PRELOAD=./mutex.so .build/debug/actor-realmPackageTests.xctest --testing-library swift-testing
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFTCALL __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

static void annotate(const char *name, void *address) {
    void (*function)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, name);
    if (function) function(address);
}

SWIFTCALL void lock_slow(uint32_t thread, SELF void *self) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFTCALL void lock_slow(uint32_t thread, SELF void *self) {
    static SWIFTCALL void (*next)(uint32_t, SELF void *);
    if (!next) next = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
    next(thread, self);
    annotate("__tsan_acquire", self);
}

SWIFTCALL void unlock_slow(SELF void *self) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
SWIFTCALL void unlock_slow(SELF void *self) {
    static SWIFTCALL void (*next)(SELF void *);
    if (!next) next = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
    annotate("__tsan_release", self);
    next(self);
}
