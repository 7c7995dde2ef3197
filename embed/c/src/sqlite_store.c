/* The store in an SQLite file: one connection that writes, one that reads. */
#include "sqlite_store.h"

#include <stdlib.h>

/* Closes both connections. */
static void close_sqlite(void *self)
{
    sqlite_file *file = self;
    for (int at = 0; at < IL_STATEMENTS; at++) {
        sqlite3_finalize(file->statements[at]);
    }
    sqlite3_close(file->reader);
    sqlite3_close(file->writer);
    pthread_mutex_destroy(&file->reading);
    pthread_mutex_destroy(&file->writing);
    free(file);
}

static il_store_status failed(il_failure *failure, const char *message)
{
    il_fail(failure, message);
    return IL_STORE_FAILED;
}

static il_store_status broken(sqlite3 *connection, il_failure *failure)
{
    char text[IL_MESSAGE_BYTES];
    snprintf(text, sizeof text, "SQLite: %s", sqlite3_errmsg(connection));
    return failed(failure, text);
}

/* A statement, with its first parameter bound to `key`. */
static sqlite3_stmt *bound(sqlite_file *file, il_statement name, il_text key)
{
    sqlite3_stmt *statement = file->statements[name];
    /* The caller keeps the key until the statement is reset. */
    sqlite3_bind_text64(statement, 1, key.data, key.size, SQLITE_STATIC, SQLITE_UTF8);
    return statement;
}

/* Runs a statement without rows, then resets it. */
static bool run(sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return code == SQLITE_DONE;
}

/* Copies the row's value and version. */
static il_store_status read_row(sqlite3_stmt *row, il_found *found, il_failure *failure)
{
    bool counter = sqlite3_column_type(row, 0) == SQLITE_INTEGER;
    size_t size = counter ? sizeof(uint64_t) : (size_t)sqlite3_column_bytes(row, 0);
    found->value = malloc(size + 1);
    if (found->value == NULL) {
        return failed(failure, IL_NO_MEMORY);
    }
    if (counter) {
        il_store_u64(found->value, (uint64_t)sqlite3_column_int64(row, 0));
    } else if (size > 0) {
        memcpy(found->value, sqlite3_column_blob(row, 0), size);
    }
    found->size = size;
    found->version = (uint64_t)sqlite3_column_int64(row, 1);
    found->exists = true;
    return IL_STORE_OK;
}

static il_store_status get(void *self, il_text key, il_found *found, il_failure *failure)
{
    sqlite_file *file = self;
    pthread_mutex_lock(&file->reading);
    sqlite3_stmt *statement = bound(file, IL_SELECT, key);
    int code = sqlite3_step(statement);
    il_store_status status = code == SQLITE_ROW    ? read_row(statement, found, failure)
                             : code == SQLITE_DONE ? IL_STORE_OK
                                                   : broken(file->reader, failure);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    pthread_mutex_unlock(&file->reading);
    return status;
}

/* What stands under a key, as far as a write has to know. */
typedef struct kind {
    bool exists, is_counter;
    int64_t count;
    uint64_t version;
} kind;

static bool look(sqlite_file *file, il_text key, kind *found)
{
    memset(found, 0, sizeof *found);
    sqlite3_stmt *statement = bound(file, IL_LOOK, key);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        found->exists = true;
        found->is_counter = sqlite3_column_type(statement, 0) == SQLITE_INTEGER;
        found->count = sqlite3_column_int64(statement, 0);
        found->version = (uint64_t)sqlite3_column_int64(statement, 1);
    }
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE;
}

/* Begins a write: nobody else writes until it ends. */
static bool begin(sqlite_file *file)
{
    pthread_mutex_lock(&file->writing);
    return run(file->statements[IL_BEGIN]);
}

/* Ends a write: commits it if it was done, and undoes it otherwise. */
static il_store_status end(sqlite_file *file, il_store_status status, il_failure *failure)
{
    if (status == IL_STORE_OK && !run(file->statements[IL_COMMIT])) {
        status = broken(file->writer, failure);
    }
    if (status != IL_STORE_OK && !sqlite3_get_autocommit(file->writer)) {
        run(file->statements[IL_ROLLBACK]);
    }
    pthread_mutex_unlock(&file->writing);
    return status;
}

/* Writes under a version that no key has had. `bytes` is NULL for a counter. */
static il_store_status put(sqlite_file *file, il_text key, const il_bytes *bytes, int64_t count,
                           il_failure *failure)
{
    sqlite3_stmt *next = file->statements[IL_NEXT_VERSION];
    if (sqlite3_step(next) != SQLITE_ROW) {
        sqlite3_reset(next);
        return broken(file->writer, failure);
    }
    int64_t version = sqlite3_column_int64(next, 0) + 1;
    sqlite3_reset(next);
    sqlite3_bind_int64(file->statements[IL_KEEP_VERSION], 1, version);
    sqlite3_stmt *upsert = bound(file, IL_UPSERT, key);
    if (bytes != NULL) {
        sqlite3_bind_blob64(upsert, 2, bytes->size == 0 ? (const void *)"" : bytes->data,
                            bytes->size, SQLITE_STATIC);
    } else {
        sqlite3_bind_int64(upsert, 2, count);
    }
    sqlite3_bind_int64(upsert, 3, version);
    if (!run(upsert) || !run(file->statements[IL_KEEP_VERSION])) {
        return broken(file->writer, failure);
    }
    return IL_STORE_OK;
}

static il_store_status set(void *self, il_text key, il_bytes value, il_failure *failure)
{
    sqlite_file *file = self;
    kind found;
    il_store_status status;
    if (!begin(file) || !look(file, key, &found)) {
        status = broken(file->writer, failure);
    } else if (found.is_counter) {
        status = failed(failure, "the key holds a counter");
    } else {
        status = put(file, key, &value, 0, failure);
    }
    return end(file, status, failure);
}

static il_store_status delete_key(void *self, il_text key, il_failure *failure)
{
    sqlite_file *file = self;
    bool done = begin(file) && run(bound(file, IL_DELETE, key));
    return end(file, done ? IL_STORE_OK : broken(file->writer, failure), failure);
}

static il_store_status increment(void *self, il_text key, int64_t delta, int64_t *sum,
                                 il_failure *failure)
{
    sqlite_file *file = self;
    kind found;
    il_store_status status;
    if (!begin(file) || !look(file, key, &found)) {
        status = broken(file->writer, failure);
    } else if (found.exists && !found.is_counter) {
        status = failed(failure, "the key holds a value");
    } else if (delta > 0 ? found.count > INT64_MAX - delta : found.count < INT64_MIN - delta) {
        status = failed(failure, "the counter would overflow");
    } else {
        *sum = found.count + delta;
        status = put(file, key, NULL, *sum, failure);
    }
    return end(file, status, failure);
}

static il_store_status compare_and_swap(void *self, il_text key, const uint64_t *expected,
                                        il_bytes value, bool *swapped, il_failure *failure)
{
    sqlite_file *file = self;
    kind found;
    il_store_status status = IL_STORE_OK;
    *swapped = false;
    if (!begin(file) || !look(file, key, &found)) {
        status = broken(file->writer, failure);
    } else if (found.is_counter) {
        status = failed(failure, "the key holds a counter");
    } else if (found.exists ? expected != NULL && *expected == found.version : expected == NULL) {
        status = put(file, key, &value, 0, failure);
        *swapped = status == IL_STORE_OK;
    }
    status = end(file, status, failure);
    *swapped = *swapped && status == IL_STORE_OK;
    return status;
}

static const il_store_calls CALLS = {get, set, delete_key, increment, compare_and_swap,
                                     close_sqlite};

il_status il_sqlite_store_open(const char *path, il_store **store, il_failure *failure)
{
    *store = NULL;
    sqlite_file *file = calloc(1, sizeof *file);
    if (file == NULL) {
        il_fail(failure, IL_NO_MEMORY);
        return IL_NOT_OPENED;
    }
    pthread_mutex_init(&file->reading, NULL);
    pthread_mutex_init(&file->writing, NULL);
    if (il_sqlite_open(file, path, failure)) {
        *store = il_store_new(&CALLS, file);
        if (*store != NULL) {
            return IL_OK;
        }
        il_fail(failure, IL_NO_MEMORY);
    }
    close_sqlite(file);
    return IL_NOT_OPENED;
}
