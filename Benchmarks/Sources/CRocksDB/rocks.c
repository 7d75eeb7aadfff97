#include "CRocksDB.h"

#if __has_include(<rocksdb/c.h>)

#include <dlfcn.h>
#include <rocksdb/c.h>
#include <stdlib.h>
#include <string.h>

// The functions of the library that are used, each as a pointer of its declared type.
#define FUNCTIONS(each)                                                                                                  \
    each(rocksdb_options_create) each(rocksdb_options_set_create_if_missing)                                             \
    each(rocksdb_options_set_create_missing_column_families) each(rocksdb_options_set_block_based_table_factory)         \
    each(rocksdb_options_increase_parallelism) each(rocksdb_options_set_write_buffer_size)                               \
    each(rocksdb_options_set_compression) each(rocksdb_options_destroy)                                                  \
    each(rocksdb_block_based_options_create) each(rocksdb_block_based_options_set_block_cache)                           \
    each(rocksdb_block_based_options_set_filter_policy) each(rocksdb_block_based_options_destroy)                        \
    each(rocksdb_cache_create_lru) each(rocksdb_cache_destroy) each(rocksdb_filterpolicy_create_bloom_full)              \
    each(rocksdb_open_column_families) each(rocksdb_close) each(rocksdb_column_family_handle_destroy)                    \
    each(rocksdb_readoptions_create) each(rocksdb_readoptions_destroy) each(rocksdb_writeoptions_create)                 \
    each(rocksdb_writeoptions_set_sync) each(rocksdb_writeoptions_destroy) each(rocksdb_writebatch_create)               \
    each(rocksdb_writebatch_put_cf) each(rocksdb_writebatch_destroy) each(rocksdb_write)                                 \
    each(rocksdb_flushoptions_create) each(rocksdb_flushoptions_set_wait) each(rocksdb_flushoptions_destroy)             \
    each(rocksdb_flush_cf) each(rocksdb_compact_range_cf)                                                                \
    each(rocksdb_get_pinned_cf) each(rocksdb_pinnableslice_value) each(rocksdb_pinnableslice_destroy) each(rocksdb_free)

static struct {
#define DECLARE(name) __typeof__(&name) name;
    FUNCTIONS(DECLARE)
} call;

const char *rocks_missing(void) {
    static const char *missing;
    static bool is_loaded;
    if (is_loaded) return missing;
    is_loaded = true;
    static const char *names[] = {"librocksdb.so", "librocksdb.so.7.8", "librocksdb.so.8.9", "librocksdb.so.9.10"};
    void *library = NULL;
    for (size_t index = 0; index < sizeof names / sizeof *names && !library; index++) {
        library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) return missing = "librocksdb is not installed";
#define LOAD(name)                                                                                                       \
    if (!(call.name = (__typeof__(&name))dlsym(library, #name))) return missing = "librocksdb lacks " #name;
    FUNCTIONS(LOAD)
    return missing;
}

struct rocks {
    rocksdb_t *handle;
    rocksdb_column_family_handle_t *families[2];
    rocksdb_options_t *options;
    rocksdb_block_based_table_options_t *table;
    rocksdb_cache_t *cache;
    rocksdb_readoptions_t *read;
    rocksdb_writeoptions_t *write[2];
};

struct rocks_batch {
    rocks *database;
    rocksdb_writebatch_t *handle;
};

char *rocks_open(const char *path, rocks **database) {
    rocks *opened = calloc(1, sizeof *opened);
    opened->options = call.rocksdb_options_create();
    call.rocksdb_options_set_create_if_missing(opened->options, 1);
    call.rocksdb_options_set_create_missing_column_families(opened->options, 1);
    call.rocksdb_options_increase_parallelism(opened->options, 2);
    call.rocksdb_options_set_write_buffer_size(opened->options, 64 << 20);
    call.rocksdb_options_set_compression(opened->options, rocksdb_no_compression);
    opened->cache = call.rocksdb_cache_create_lru(256 << 20);
    opened->table = call.rocksdb_block_based_options_create();
    call.rocksdb_block_based_options_set_block_cache(opened->table, opened->cache);
    call.rocksdb_block_based_options_set_filter_policy(opened->table, call.rocksdb_filterpolicy_create_bloom_full(10));
    call.rocksdb_options_set_block_based_table_factory(opened->options, opened->table);
    opened->read = call.rocksdb_readoptions_create();
    for (int is_flushed = 0; is_flushed < 2; is_flushed++) {
        opened->write[is_flushed] = call.rocksdb_writeoptions_create();
        call.rocksdb_writeoptions_set_sync(opened->write[is_flushed], is_flushed);
    }
    const char *names[] = {"default", "emails"};
    const rocksdb_options_t *options[] = {opened->options, opened->options};
    char *error = NULL;
    opened->handle =
        call.rocksdb_open_column_families(opened->options, path, 2, names, options, opened->families, &error);
    if (error) {
        opened->handle = NULL;
        rocks_close(opened);
        return error;
    }
    *database = opened;
    return NULL;
}

void rocks_close(rocks *database) {
    if (database->handle) {
        for (int family = 0; family < 2; family++) {
            call.rocksdb_column_family_handle_destroy(database->families[family]);
        }
        call.rocksdb_close(database->handle);
    }
    call.rocksdb_readoptions_destroy(database->read);
    for (int is_flushed = 0; is_flushed < 2; is_flushed++) {
        call.rocksdb_writeoptions_destroy(database->write[is_flushed]);
    }
    call.rocksdb_options_destroy(database->options);
    call.rocksdb_block_based_options_destroy(database->table);
    call.rocksdb_cache_destroy(database->cache);
    free(database);
}

rocks_batch *rocks_begin(rocks *database) {
    rocks_batch *batch = malloc(sizeof *batch);
    *batch = (rocks_batch){database, call.rocksdb_writebatch_create()};
    return batch;
}

void rocks_put(rocks_batch *batch, int family, const void *key, size_t key_count, const void *value, size_t value_count) {
    call.rocksdb_writebatch_put_cf(
        batch->handle, batch->database->families[family], key, key_count, value, value_count);
}

char *rocks_commit(rocks_batch *batch, bool is_flushed) {
    char *error = NULL;
    call.rocksdb_write(batch->database->handle, batch->database->write[is_flushed], batch->handle, &error);
    call.rocksdb_writebatch_destroy(batch->handle);
    free(batch);
    return error;
}

char *rocks_flush(rocks *database, bool is_compacted) {
    char *error = NULL;
    rocksdb_flushoptions_t *options = call.rocksdb_flushoptions_create();
    call.rocksdb_flushoptions_set_wait(options, 1);
    for (int family = 0; family < 2 && !error; family++) {
        call.rocksdb_flush_cf(database->handle, options, database->families[family], &error);
    }
    call.rocksdb_flushoptions_destroy(options);
    for (int family = 0; family < 2 && !error && is_compacted; family++) {
        call.rocksdb_compact_range_cf(database->handle, database->families[family], NULL, 0, NULL, 0);
    }
    return error;
}

int64_t rocks_get(rocks *database, int family, const void *key, size_t key_count, void *value, size_t capacity) {
    char *error = NULL;
    rocksdb_pinnableslice_t *slice = call.rocksdb_get_pinned_cf(
        database->handle, database->read, database->families[family], key, key_count, &error);
    if (error) {
        call.rocksdb_free(error);
        return -2;
    }
    if (!slice) return -1;
    size_t count = 0;
    const char *bytes = call.rocksdb_pinnableslice_value(slice, &count);
    memcpy(value, bytes, count < capacity ? count : capacity);
    call.rocksdb_pinnableslice_destroy(slice);
    return (int64_t)count;
}

void rocks_free(char *message) { call.rocksdb_free(message); }

#else

#include <stdlib.h>

const char *rocks_missing(void) { return "rocksdb/c.h was not there when this was built (librocksdb-dev)"; }
char *rocks_open(const char *path, rocks **database) { abort(); }
void rocks_close(rocks *database) { abort(); }
rocks_batch *rocks_begin(rocks *database) { abort(); }
void rocks_put(rocks_batch *batch, int family, const void *key, size_t key_count, const void *value, size_t value_count) {
    abort();
}
char *rocks_commit(rocks_batch *batch, bool is_flushed) { abort(); }
char *rocks_flush(rocks *database, bool is_compacted) { abort(); }
int64_t rocks_get(rocks *database, int family, const void *key, size_t key_count, void *value, size_t capacity) { abort(); }
void rocks_free(char *message) { abort(); }

#endif
