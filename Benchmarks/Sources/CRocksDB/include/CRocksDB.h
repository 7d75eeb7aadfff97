#ifndef CROCKSDB_H
#define CROCKSDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// RocksDB where the header was there when this was compiled and the library is there now: nothing is linked, so that the
// package builds and runs without it. Functions that can fail return a message, which the caller frees, or NULL.

typedef struct rocks rocks;

// NULL when RocksDB can be used, else why not; not to be freed.
const char *rocks_missing(void);

// A database with two families of keys. Point look-ups have a cache of 256 MB and a filter, as its tuning guide says.
char *rocks_open(const char *path, rocks **database);
void rocks_close(rocks *database);

// A batch: what it collects is written at once.
typedef struct rocks_batch rocks_batch;
rocks_batch *rocks_begin(rocks *database);
void rocks_put(rocks_batch *batch, int family, const void *key, size_t key_count, const void *value, size_t value_count);
char *rocks_commit(rocks_batch *batch, bool is_flushed);

// Writes what stands in its log to sorted files; then each family is one run without what was overwritten, if that is asked for.
char *rocks_flush(rocks *database, bool is_compacted);

// Copies a value of at most `capacity` bytes; its length, or -1 when there is none, or -2 when it fails.
int64_t rocks_get(rocks *database, int family, const void *key, size_t key_count, void *value, size_t capacity);

void rocks_free(char *message);

#endif
