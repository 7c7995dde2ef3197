/* vectors FOLDER STORE PLACE: runs every scenario of the folder's files over `memory`, or over
   `sqlite` with its files in PLACE. */
#include <dirent.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "vectors.h"

static _Atomic uint64_t clock_ms;
static char place[2048];

static uint64_t now_ms(void *self)
{
    (void)self;
    return clock_ms;
}

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s", place);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

const char *shown(json_object *value)
{
    return value == NULL ? "null" : json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
}

static void run_call(const scene *scene, json_object *step, tokens *tokens, greatest *greatest)
{
    json_object *expect;
    if (!json_object_object_get_ex(step, "expect", &expect)) {
        fail("no `expect`");
    }
    call call = read_call(step, tokens);
    json_object *got = make_call(scene->ledger, &call);
    if (!fits(tokens, expect, got)) {
        fail("%s\n  expected %s\n  got      %s", call.name, shown(expect), shown(got));
    }
    check_token(greatest, step, got);
    free_call(&call);
    json_object_put(got);
}

static void run_store(const scene *scene, json_object *set, json_object *absent)
{
    void *self;
    const il_store_calls *calls = il_store_calls_of(scene->store, &self);
    il_failure failure;
    if (set != NULL) {
        json_object *key, *value;
        json_object_object_get_ex(set, "key", &key);
        json_object_object_get_ex(set, "value", &value);
        text bytes = read_payload(value);
        if (calls->set(self, il_str(json_object_get_string(key)), il_data(bytes.data, bytes.size),
                       &failure) != IL_STORE_OK) {
            fail("%s", failure.message);
        }
        free(bytes.data);
        return;
    }
    il_found found = {.exists = false};
    calls->get(self, il_str(json_object_get_string(absent)), &found, &failure);
    if (found.exists) {
        fail("%s is still in the store", json_object_get_string(absent));
    }
}

static int run_scenario(const scene *scene, json_object *scenario, const char *file)
{
    json_object *name, *steps;
    json_object_object_get_ex(scenario, "name", &name);
    json_object_object_get_ex(scenario, "steps", &steps);
    tokens tokens = {.size = 0};
    greatest greatest = {.size = 0};
    clock_ms = 0;
    int size = (int)json_object_array_length(steps);
    for (int at = 0; at < size; at++) {
        json_object *step = json_object_array_get_idx(steps, (size_t)at);
        json_object *at_ms, *set = NULL, *absent = NULL;
        if (json_object_object_get_ex(step, "at_ms", &at_ms)) {
            clock_ms = json_object_get_uint64(at_ms);
        }
        snprintf(place, sizeof place, "%s: \"%s\", step %d at %llu ms: ", file,
                 json_object_get_string(name), at + 1, (unsigned long long)clock_ms);
        if (json_object_object_get_ex(step, "parallel", NULL)) {
            run_parallel(scene, step, &tokens, &greatest);
        } else if (json_object_object_get_ex(step, "store_set", &set) ||
                   json_object_object_get_ex(step, "store_absent", &absent)) {
            run_store(scene, set, absent);
        } else {
            run_call(scene, step, &tokens, &greatest);
        }
    }
    return size;
}

static il_store *open_store(const char *kind, const char *path)
{
    il_store *store;
    il_failure failure;
    if (strcmp(kind, "memory") == 0 ? il_memory_store_open(&store, &failure) != IL_OK
                                    : il_sqlite_store_open(path, &store, &failure) != IL_OK) {
        fail("%s", failure.message);
    }
    return store;
}

static void remove_file(const char *path)
{
    static const char *const ENDINGS[] = {"", "-wal", "-shm"};
    for (int at = 0; at < 3; at++) {
        char name[600];
        snprintf(name, sizeof name, "%s%s", path, ENDINGS[at]);
        unlink(name);
    }
}

/* Runs a file's scenarios, each with a store of its own, and counts them. */
static void run_file(il_runtime *runtime, const char *path, const char *kind, const char *folder,
                     int *scenarios, int *steps)
{
    json_object *file = json_object_from_file(path), *all, *format;
    if (file == NULL || !json_object_object_get_ex(file, "scenarios", &all) ||
        !json_object_object_get_ex(file, "format", &format) || json_object_get_int(format) != 1) {
        fail("%s: no vectors of format 1", path);
    }
    for (size_t at = 0; at < json_object_array_length(all); at++) {
        json_object *scenario = json_object_array_get_idx(all, at), *only;
        if (json_object_object_get_ex(scenario, "only", &only) &&
            strcmp(json_object_get_string(only), "cas") != 0) {
            continue;
        }
        char database[512];
        snprintf(database, sizeof database, "%s/vectors-%ld.db", folder, (long)getpid());
        scene scene = {runtime, open_store(kind, database), {now_ms, NULL}, NULL};
        il_failure failure;
        if (il_ledger_open(runtime, scene.store, &scene.clock, &scene.ledger, &failure) != IL_OK) {
            fail("%s", failure.message);
        }
        *steps += run_scenario(&scene, scenario, path);
        *scenarios += 1;
        il_ledger_close(scene.ledger);
        il_store_close(scene.store);
        remove_file(database);
    }
    json_object_put(file);
}

static int is_vector_file(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && strcmp(dot, ".json") == 0;
}

int main(int size, char **words)
{
    if (size != 4 || (strcmp(words[2], "memory") != 0 && strcmp(words[2], "sqlite") != 0)) {
        fail("usage: vectors FOLDER memory|sqlite PLACE");
    }
    il_runtime *runtime;
    il_failure failure;
    if (il_runtime_open(&runtime, &failure) != IL_OK) {
        fail("%s", failure.message);
    }
    struct dirent **files;
    int found = scandir(words[1], &files, is_vector_file, alphasort), scenarios = 0, steps = 0;
    for (int at = 0; at < found; at++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", words[1], files[at]->d_name);
        run_file(runtime, path, words[2], words[3], &scenarios, &steps);
        free(files[at]);
    }
    free(files);
    il_runtime_close(runtime);
    if (scenarios == 0) {
        fail("%s: no scenarios", words[1]);
    }
    printf("C, %s: %d scenarios, %d steps\n", words[2], scenarios, steps);
    return 0;
}
