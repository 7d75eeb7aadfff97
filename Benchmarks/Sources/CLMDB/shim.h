#include <lmdb.h>

#include <stddef.h>

// A GNU extension that the system's module does not show.
extern void *memmem(const void *text, size_t text_length, const void *part, size_t part_length);
