#ifndef CREALM_DISCOVERY_H
#define CREALM_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Calls `body` with the metadata of every class of the process, generic ones excepted, that descends from
// `base_metadata`, the class itself included. Only such classes are realised.
void crealm_for_each_subclass(const void *base_metadata, void (*body)(const void *metadata, void *context), void *context);

// The number of images that the process has loaded so far.
uint64_t crealm_loaded_image_count(void);

// A new instance of the class of `template_object` with the same bytes behind the header. The caller owns it, and
// answers for the references that the bytes contain.
void *crealm_clone_object(const void *template_object, size_t size, size_t align_mask);

// Size and alignment mask of the instances of a class.
uint32_t crealm_instance_size(const void *metadata);
uint16_t crealm_instance_align_mask(const void *metadata);

// Whether an object has exactly one strong reference and neither weak nor unowned ones.
static inline int crealm_is_sole_reference(const void *object) {
    return ((const volatile uint64_t *)object)[1] == 3;
}

// Retains an object unless it is being, or was, deinitialised; its memory must be held by an unowned reference.
bool crealm_try_retain(void *object);

// The word of the running key path evaluation on this thread, see PathRecorder.
void *crealm_recorder_get(void);
void crealm_recorder_set(void *recorder);

#endif
