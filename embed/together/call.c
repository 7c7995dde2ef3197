/* Makes calls on the ledger in an SQLite file: call FILE. Each line of the input is a call as the
   vectors write it; an answer of each is printed, in the words of the WIT. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "vectors.h"

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static void answer(il_ledger *ledger, const char *line)
{
    const tokens none = {.size = 0};
    json_object *step = json_tokener_parse(line);
    if (!json_object_is_type(step, json_type_object)) {
        fail("%s is no call", line);
    }
    call call = read_call(step, &none);
    json_object *got = make_call(ledger, &call);
    puts(got == NULL ? "null" : json_object_to_json_string_ext(got, JSON_C_TO_STRING_PLAIN));
    fflush(stdout);
    json_object_put(got);
    free_call(&call);
    json_object_put(step);
}

int main(int size, char **words)
{
    if (size != 2) {
        fail("usage: call FILE");
    }
    il_failure failure;
    il_runtime *runtime;
    il_store *store;
    il_ledger *ledger;
    if (il_runtime_open(&runtime, &failure) != IL_OK ||
        il_sqlite_store_open(words[1], &store, &failure) != IL_OK ||
        il_ledger_open(runtime, store, NULL, &ledger, &failure) != IL_OK) {
        fail("%s", failure.message);
    }
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) >= 0) {
        answer(ledger, line);
    }
    free(line);
    il_ledger_close(ledger);
    il_store_close(store);
    il_runtime_close(runtime);
    return 0;
}
