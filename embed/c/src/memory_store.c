/* The store in memory: a search tree under a lock. */
#include <pthread.h>
#include <search.h>
#include <stdlib.h>

#include "internal.h"

typedef struct memory {
    pthread_mutex_t lock;
    void *entries; /* a tree of `slot` */
    uint64_t last_version;
} memory;

/* `key` first: the tree compares entries by it. */
typedef struct slot {
    il_text key;
    bool is_counter;
    int64_t counter;
    uint8_t *value;
    size_t size;
    uint64_t version;
} slot;

static int compare(const void *one, const void *other)
{
    const il_text *a = one, *b = other;
    size_t shared = a->size < b->size ? a->size : b->size;
    int order = memcmp(a->data, b->data, shared);
    return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

static slot *find(memory *memory, il_text key)
{
    void *node = tfind(&key, &memory->entries, compare);
    return node == NULL ? NULL : *(slot **)node;
}

static il_store_status failed(il_failure *failure, const char *message)
{
    il_fail(failure, message);
    return IL_STORE_FAILED;
}

static void discard(void *node)
{
    slot *found = node;
    free((char *)found->key.data);
    free(found->value);
    free(found);
}

/* A new entry for `key`, which has none; NULL where memory has run out. */
static slot *make(memory *memory, il_text key)
{
    slot *made = calloc(1, sizeof *made);
    char *name = malloc(key.size + 1);
    if (made != NULL && name != NULL) {
        memcpy(name, key.data, key.size);
        made->key.data = name;
        made->key.size = key.size;
        if (tsearch(made, &memory->entries, compare) != NULL) {
            return made;
        }
    }
    free(name);
    free(made);
    return NULL;
}

/* `found` is the key's entry, or NULL where it has none. */
static il_store_status put(memory *memory, slot *found, il_text key, il_bytes value,
                           il_failure *failure)
{
    uint8_t *copy = malloc(value.size + 1);
    if (copy != NULL && found == NULL) {
        found = make(memory, key);
    }
    if (copy == NULL || found == NULL) {
        free(copy);
        return failed(failure, IL_NO_MEMORY);
    }
    memcpy(copy, value.data, value.size);
    free(found->value);
    found->value = copy;
    found->size = value.size;
    found->version = ++memory->last_version;
    return IL_STORE_OK;
}

static il_store_status copy_out(const slot *entry, il_found *found, il_failure *failure)
{
    size_t size = entry->is_counter ? sizeof entry->counter : entry->size;
    found->value = malloc(size + 1);
    if (found->value == NULL) {
        return failed(failure, IL_NO_MEMORY);
    }
    if (entry->is_counter) {
        for (size_t at = 0; at < size; at++) {
            found->value[at] = (uint8_t)((uint64_t)entry->counter >> (8 * at));
        }
    } else {
        memcpy(found->value, entry->value, size);
    }
    found->size = size;
    found->exists = true;
    found->version = entry->version;
    return IL_STORE_OK;
}

static il_store_status get(void *self, il_text key, il_found *found, il_failure *failure)
{
    memory *memory = self;
    pthread_mutex_lock(&memory->lock);
    const slot *entry = find(memory, key);
    il_store_status status = entry == NULL ? IL_STORE_OK : copy_out(entry, found, failure);
    pthread_mutex_unlock(&memory->lock);
    return status;
}

static il_store_status set(void *self, il_text key, il_bytes value, il_failure *failure)
{
    memory *memory = self;
    pthread_mutex_lock(&memory->lock);
    slot *found = find(memory, key);
    il_store_status status = found != NULL && found->is_counter
                                 ? failed(failure, "the key holds a counter")
                                 : put(memory, found, key, value, failure);
    pthread_mutex_unlock(&memory->lock);
    return status;
}

static il_store_status delete_key(void *self, il_text key, il_failure *failure)
{
    (void)failure;
    memory *memory = self;
    pthread_mutex_lock(&memory->lock);
    slot *found = find(memory, key);
    if (found != NULL) {
        tdelete(&key, &memory->entries, compare);
        discard(found);
    }
    pthread_mutex_unlock(&memory->lock);
    return IL_STORE_OK;
}

static il_store_status add(memory *memory, il_text key, int64_t delta, int64_t *sum,
                           il_failure *failure)
{
    slot *found = find(memory, key);
    if (found != NULL && !found->is_counter) {
        return failed(failure, "the key holds a value");
    }
    int64_t before = found == NULL ? 0 : found->counter;
    if (delta > 0 ? before > INT64_MAX - delta : before < INT64_MIN - delta) {
        return failed(failure, "the counter would overflow");
    }
    found = found == NULL ? make(memory, key) : found;
    if (found == NULL) {
        return failed(failure, IL_NO_MEMORY);
    }
    found->is_counter = true;
    found->counter = *sum = before + delta;
    found->version = ++memory->last_version;
    return IL_STORE_OK;
}

static il_store_status increment(void *self, il_text key, int64_t delta, int64_t *sum,
                                 il_failure *failure)
{
    memory *memory = self;
    pthread_mutex_lock(&memory->lock);
    il_store_status status = add(memory, key, delta, sum, failure);
    pthread_mutex_unlock(&memory->lock);
    return status;
}

static il_store_status compare_and_swap(void *self, il_text key, const uint64_t *expected,
                                        il_bytes value, bool *swapped, il_failure *failure)
{
    memory *memory = self;
    pthread_mutex_lock(&memory->lock);
    slot *found = find(memory, key);
    il_store_status status = IL_STORE_OK;
    *swapped = false;
    if (found != NULL && found->is_counter) {
        status = failed(failure, "the key holds a counter");
    } else if (found == NULL ? expected == NULL
                             : expected != NULL && found->version == *expected) {
        status = put(memory, found, key, value, failure);
        *swapped = status == IL_STORE_OK;
    }
    pthread_mutex_unlock(&memory->lock);
    return status;
}

static void close_memory(void *self)
{
    memory *memory = self;
    /* POSIX has no way to drop a whole tree: take its root until there is none. */
    while (memory->entries != NULL) {
        slot *root = *(slot **)memory->entries;
        tdelete(&root->key, &memory->entries, compare);
        discard(root);
    }
    pthread_mutex_destroy(&memory->lock);
    free(memory);
}

static const il_store_calls CALLS = {get, set, delete_key, increment, compare_and_swap,
                                     close_memory};

il_status il_memory_store_open(il_store **store, il_failure *failure)
{
    *store = NULL;
    memory *made = calloc(1, sizeof *made);
    if (made != NULL && pthread_mutex_init(&made->lock, NULL) == 0) {
        *store = il_store_new(&CALLS, made);
        if (*store != NULL) {
            return IL_OK;
        }
        pthread_mutex_destroy(&made->lock);
    }
    free(made);
    il_fail(failure, IL_NO_MEMORY);
    return IL_NOT_OPENED;
}
