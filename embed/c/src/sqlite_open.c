/* Opening the file: settings, and the schema with its version. */
#include <string.h>
#include <strings.h>

#include "sqlite_store.h"

/* How often a statement that waits for another process looks again, and the pause between two
   looks: about four seconds in all. Short pauses, because a process that commits one write after
   the other leaves the file alone for a moment only. */
#define BUSY_LOOKS 3600
#define BUSY_PAUSE_MS 1

/* Attempts at what SQLite does not wait for by itself, and the pause between two. */
#define OPEN_ATTEMPTS 100
#define OPEN_PAUSE_MS 50

/* Marks the file as a ledger's: "iled" in ASCII; and the version of the schema. */
#define APPLICATION_ID 0x696c6564
#define SCHEMA_VERSION 1

/* The first SQLite with STRICT tables. */
#define OLDEST_SQLITE 3037000

/* A value is a BLOB, a counter an INTEGER. */
static const char SCHEMA[] =
    "CREATE TABLE entry ("
    "    key TEXT NOT NULL PRIMARY KEY,"
    "    value ANY NOT NULL,"
    "    version INTEGER NOT NULL"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE sequence ("
    "    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),"
    "    last_version INTEGER NOT NULL"
    ") STRICT;"
    "INSERT INTO sequence (id, last_version) VALUES (1, 0);"
    "PRAGMA application_id = 0x696c6564;"
    "PRAGMA user_version = 1;";

static const char *const SQL[IL_STATEMENTS] = {
    [IL_SELECT] = "SELECT value, version FROM entry WHERE key = ?1",
    [IL_BEGIN] = "BEGIN IMMEDIATE",
    [IL_COMMIT] = "COMMIT",
    [IL_ROLLBACK] = "ROLLBACK",
    [IL_LOOK] = "SELECT iif(typeof(value) = 'integer', value, NULL), version FROM entry"
                " WHERE key = ?1",
    [IL_UPSERT] = "INSERT INTO entry (key, value, version) VALUES (?1, ?2, ?3)"
                  " ON CONFLICT (key) DO UPDATE SET value = excluded.value,"
                  " version = excluded.version",
    [IL_DELETE] = "DELETE FROM entry WHERE key = ?1",
    [IL_NEXT_VERSION] = "SELECT last_version FROM sequence",
    [IL_KEEP_VERSION] = "UPDATE sequence SET last_version = ?1",
};

/* What SQLite asks when it finds the file locked for the `looks`-th time: whether to look again. */
static int wait_for_others(void *self, int looks)
{
    (void)self;
    sqlite3_sleep(BUSY_PAUSE_MS);
    return looks < BUSY_LOOKS;
}

static int execute(sqlite3 *connection, const char *sql)
{
    return sqlite3_exec(connection, sql, NULL, NULL, NULL);
}

static int connect_to(const char *path, sqlite3 **connection)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(path, connection, flags, NULL);
    if (code != SQLITE_OK) {
        return code;
    }
    sqlite3_busy_handler(*connection, wait_for_others, NULL);
    /* Only macOS knows a difference between flushing to the disk and flushing the disk. */
    return execute(*connection, "PRAGMA synchronous = FULL; PRAGMA fullfsync = 1;"
                                "PRAGMA checkpoint_fullfsync = 1;");
}

/* The first column of the only row, as a number. */
static int read_number(sqlite3 *connection, const char *sql, int64_t *number)
{
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(connection, sql, -1, &statement, NULL);
    if (code != SQLITE_OK) {
        return code;
    }
    code = sqlite3_step(statement);
    *number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return code == SQLITE_ROW ? SQLITE_OK : code;
}

typedef enum schema { EMPTY, PRESENT, FOREIGN, NEWER } schema;

static int read_schema(sqlite3 *connection, schema *found)
{
    int64_t id = 0, version = 0, tables = 0;
    int code = read_number(connection, "PRAGMA application_id", &id);
    if (code == SQLITE_OK) {
        code = read_number(connection, "PRAGMA user_version", &version);
    }
    if (code == SQLITE_OK) {
        code = read_number(connection, "SELECT count(*) FROM sqlite_schema", &tables);
    }
    if (id == APPLICATION_ID && version == SCHEMA_VERSION) {
        *found = PRESENT;
    } else if (id == APPLICATION_ID && version > SCHEMA_VERSION) {
        *found = NEWER;
    } else {
        *found = id == 0 && version == 0 && tables == 0 ? EMPTY : FOREIGN;
    }
    return code;
}

static int use_wal(sqlite3 *connection, bool *is_wal)
{
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(connection, "PRAGMA journal_mode = WAL", -1, &statement, NULL);
    if (code != SQLITE_OK) {
        return code;
    }
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        *is_wal = strcasecmp((const char *)sqlite3_column_text(statement, 0), "wal") == 0;
        code = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    return code;
}

/* Makes the tables unless another process was first. */
static int make_schema(sqlite3 *connection)
{
    schema found;
    int code = execute(connection, "BEGIN IMMEDIATE");
    if (code != SQLITE_OK) {
        return code;
    }
    code = read_schema(connection, &found);
    if (code == SQLITE_OK && found == EMPTY) {
        code = execute(connection, SCHEMA);
    }
    if (code == SQLITE_OK) {
        code = execute(connection, "COMMIT");
    }
    if (code != SQLITE_OK) {
        execute(connection, "ROLLBACK");
    }
    return code;
}

/* Makes sure that the file is a ledger's. `*why` is set where it cannot be one. */
static int prepare(sqlite3 *connection, const char **why)
{
    schema found;
    bool is_wal = false;
    /* Look before anything is changed: the file may be another program's. */
    int code = read_schema(connection, &found);
    if (code != SQLITE_OK) {
        return code;
    }
    if (found == FOREIGN || found == NEWER) {
        *why = found == FOREIGN ? "the file is another program's"
                                : "the file was made by a newer version";
        return SQLITE_OK;
    }
    code = use_wal(connection, &is_wal);
    if (code == SQLITE_OK && !is_wal) {
        *why = "SQLite keeps another journal mode than WAL";
        return SQLITE_OK;
    }
    return code == SQLITE_OK ? make_schema(connection) : code;
}

/* Repeats what fails because another process is opening the file too: while the journal mode
   changes, SQLite reports that at once instead of waiting. */
static int prepare_patiently(sqlite3 *connection, const char **why)
{
    int code = SQLITE_OK;
    for (int attempt = 0; attempt < OPEN_ATTEMPTS; attempt++) {
        code = prepare(connection, why);
        if (code != SQLITE_BUSY && code != SQLITE_LOCKED) {
            return code;
        }
        sqlite3_sleep(OPEN_PAUSE_MS);
    }
    return code;
}

static bool refuse(const char *path, const char *why, il_failure *failure)
{
    char text[IL_MESSAGE_BYTES];
    snprintf(text, sizeof text, "%s: %s", path, why);
    il_fail(failure, il_is_utf8(il_str(text)) ? text : why);
    return false;
}

bool il_sqlite_open(sqlite_file *file, const char *path, il_failure *failure)
{
    const char *why = NULL;
    if (sqlite3_libversion_number() < OLDEST_SQLITE) {
        return refuse(path, "SQLite is older than 3.37", failure);
    }
    if (connect_to(path, &file->writer) != SQLITE_OK ||
        prepare_patiently(file->writer, &why) != SQLITE_OK) {
        return refuse(path, sqlite3_errmsg(file->writer), failure);
    }
    if (why != NULL) {
        return refuse(path, why, failure);
    }
    if (connect_to(path, &file->reader) != SQLITE_OK ||
        execute(file->reader, "PRAGMA query_only = 1") != SQLITE_OK) {
        return refuse(path, sqlite3_errmsg(file->reader), failure);
    }
    for (int at = 0; at < IL_STATEMENTS; at++) {
        sqlite3 *connection = at == IL_SELECT ? file->reader : file->writer;
        if (sqlite3_prepare_v3(connection, SQL[at], -1, SQLITE_PREPARE_PERSISTENT,
                               &file->statements[at], NULL) != SQLITE_OK) {
            return refuse(path, sqlite3_errmsg(connection), failure);
        }
    }
    return true;
}
