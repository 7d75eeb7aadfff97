#define _GNU_SOURCE
#include "CRealmDiscovery.h"

#include <link.h>

#include <stdbool.h>
#include <string.h>

// The parts of the Swift runtime's stable layouts (64-bit, without Objective-C) that discovery reads:
//   MetadataSections: word 8 start and word 9 byte length of swift5_type_metadata, an array of relative references.
//   Class context descriptor: flags, parent, name, access function, fields, superclass (a mangled name), all 32 bits.
//   Class metadata: +24 instance size (u32), +28 alignment mask (u16), +40 descriptor.

typedef struct {
    uintptr_t words[10];
} metadata_sections;

extern void swift_enumerateAllMetadataSections(bool (*body)(const metadata_sections *, void *), void *context);
extern void *swift_tryRetain(void *object);
__attribute__((swiftcall)) extern void *swift_allocObject(const void *metadata, size_t size, size_t align_mask);

enum { kind_mask = 0x1f, kind_class = 16, flag_generic = 0x80 };

static const void *relative(const int32_t *field) {
    return *field == 0 ? NULL : (const uint8_t *)field + *field;
}

static const int32_t *superclass_descriptor(const int32_t *descriptor) {
    const uint8_t *name = relative(descriptor + 5);
    if (name == NULL || (name[0] != 1 && name[0] != 2)) return NULL;
    int32_t offset;
    memcpy(&offset, name + 1, sizeof offset);
    const void *target = name + 1 + offset;
    if (name[0] == 2) target = *(const void *const *)target;
    return target;
}

static bool is_class(const int32_t *descriptor) {
    return descriptor != NULL && (*(const uint32_t *)descriptor & kind_mask) == kind_class;
}

typedef struct {
    const void *base_descriptor;
    void (*body)(const void *, void *);
    void *context;
} search;

typedef const void *(*access_function)(size_t request) __attribute__((swiftcall));

static bool search_image(const metadata_sections *sections, void *opaque) {
    const search *s = opaque;
    const int32_t *record = (const int32_t *)sections->words[8];
    size_t count = sections->words[9] / sizeof(int32_t);
    for (size_t i = 0; i < count; i++, record++) {
        int32_t value = *record;
        const void *target = (const uint8_t *)record + (value & ~3);
        if ((value & 3) == 1) target = *(const void *const *)target;
        else if ((value & 3) != 0) continue;
        const int32_t *descriptor = target;
        if (!is_class(descriptor) || (*(const uint32_t *)descriptor & flag_generic)) continue;
        const int32_t *ancestor = descriptor;
        int depth = 0;
        while (is_class(ancestor) && ancestor != s->base_descriptor && depth++ < 64)
            ancestor = superclass_descriptor(ancestor);
        if (ancestor != s->base_descriptor) continue;
        access_function access = (access_function)(uintptr_t)relative(descriptor + 3);
        if (access == NULL) continue;
        s->body(access(0), s->context);
    }
    return true;
}

void crealm_for_each_subclass(const void *base_metadata, void (*body)(const void *, void *), void *context) {
    search s = {((const void *const *)base_metadata)[5], body, context};
    swift_enumerateAllMetadataSections(search_image, &s);
}

void *crealm_clone_object(const void *template_object, size_t size, size_t align_mask) {
    void *object = swift_allocObject(*(const void *const *)template_object, size, align_mask);
    memcpy((uint8_t *)object + 16, (const uint8_t *)template_object + 16, size - 16);
    return object;
}

bool crealm_try_retain(void *object) { return swift_tryRetain(object) != NULL; }

static int read_count(struct dl_phdr_info *info, size_t size, void *count) {
    *(uint64_t *)count = info->dlpi_adds;
    return 1;
}

uint64_t crealm_loaded_image_count(void) {
    uint64_t count = 0;
    dl_iterate_phdr(read_count, &count);
    return count;
}

uint32_t crealm_instance_size(const void *metadata) {
    return *(const uint32_t *)((const uint8_t *)metadata + 24);
}

uint16_t crealm_instance_align_mask(const void *metadata) {
    return *(const uint16_t *)((const uint8_t *)metadata + 28);
}

static _Thread_local void *current_recorder;

void *crealm_recorder_get(void) { return current_recorder; }
void crealm_recorder_set(void *recorder) { current_recorder = recorder; }
