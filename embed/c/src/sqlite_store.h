/* The SQLite file of a store. */
#ifndef IL_SQLITE_STORE_H
#define IL_SQLITE_STORE_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>

#include "internal.h"

typedef enum il_statement {
    IL_SELECT, /* of the connection that reads; the rest are of the one that writes */
    IL_BEGIN,
    IL_COMMIT,
    IL_ROLLBACK,
    IL_LOOK,
    IL_UPSERT,
    IL_DELETE,
    IL_NEXT_VERSION,
    IL_KEEP_VERSION,
    IL_STATEMENTS
} il_statement;

typedef struct sqlite_file {
    sqlite3 *writer, *reader;
    pthread_mutex_t writing, reading; /* each held while its connection is used */
    sqlite3_stmt *statements[IL_STATEMENTS];
} sqlite_file;

/* Opens both connections, with the tables made where they are missing. What was opened is the
   caller's to close, whether it worked or not. */
bool il_sqlite_open(sqlite_file *file, const char *path, il_failure *failure);

#endif
