/* Calls at once, and the tokens of claims. */
#include <pthread.h>

#include "vectors.h"

#define MAX_CALLS 128

void check_token(greatest *greatest, json_object *step, json_object *got)
{
    json_object *key = NULL, *scope = NULL, *is, *token;
    json_object_object_get_ex(step, "key", &key);
    json_object_object_get_ex(step, "scope", &scope);
    bool fresh = json_object_object_get_ex(got, "fresh", &is);
    if (!fresh && !json_object_object_get_ex(got, "recorded", &is)) {
        return;
    }
    json_object_object_get_ex(is, "token", &token);
    uint64_t value = json_object_get_uint64(token);
    int at = 0;
    while (at < greatest->size && !(json_object_equal(greatest->seen[at].key, key) &&
                                    json_object_equal(greatest->seen[at].scope, scope))) {
        at++;
    }
    if (at == greatest->size) {
        if (at == MAX_KEYS) {
            fail("more than %d keys in one scenario", MAX_KEYS);
        }
        greatest->size++;
        greatest->seen[at].key = key;
        greatest->seen[at].scope = scope;
        greatest->seen[at].token = 0;
    }
    if (fresh && value <= greatest->seen[at].token) {
        fail("the new token is not greater than one before: %s", shown(got));
    }
    if (value > greatest->seen[at].token) {
        greatest->seen[at].token = value;
    }
}

/* One of several calls at once, in a thread and with a ledger of its own. */
typedef struct racer {
    pthread_t thread;
    il_ledger *ledger;
    json_object *step, *got;
    call call;
} racer;

static void *race(void *self)
{
    racer *racer = self;
    racer->got = make_call(racer->ledger, &racer->call);
    return NULL;
}

static size_t start_all(const scene *scene, json_object *parallel, const tokens *tokens,
                        racer *racers)
{
    json_object *times, *step = NULL;
    bool same = json_object_object_get_ex(parallel, "times", &times) &&
                json_object_object_get_ex(parallel, "step", &step);
    size_t size =
        same ? (size_t)json_object_get_int64(times) : json_object_array_length(parallel);
    if (size > MAX_CALLS) {
        fail("more than %d calls at once", MAX_CALLS);
    }
    for (size_t at = 0; at < size; at++) {
        il_failure failure;
        racers[at].step = same ? step : json_object_array_get_idx(parallel, at);
        racers[at].call = read_call(racers[at].step, tokens);
        if (il_ledger_open(scene->runtime, scene->store, &scene->clock, &racers[at].ledger,
                           &failure) != IL_OK) {
            fail("%s", failure.message);
        }
    }
    for (size_t at = 0; at < size; at++) {
        pthread_create(&racers[at].thread, NULL, race, &racers[at]);
    }
    return size;
}

/* Every answer is expected, as often as it came, in any order. */
static void fit_all(tokens *tokens, json_object *expect, racer *racers, size_t size)
{
    bool used[MAX_CALLS] = {false};
    size_t left = size;
    for (size_t row = 0; row < json_object_array_length(expect); row++) {
        json_object *counted = json_object_array_get_idx(expect, row), *count, *answer;
        json_object_object_get_ex(counted, "count", &count);
        json_object_object_get_ex(counted, "answer", &answer);
        for (int64_t times = json_object_get_int64(count); times > 0; times--) {
            size_t at = 0;
            struct tokens tried = *tokens;
            while (at < size && (used[at] || !fits(&tried, answer, racers[at].got))) {
                tried = *tokens;
                at++;
            }
            if (at == size) {
                fail("in parallel: %s did not come so often", shown(answer));
            }
            *tokens = tried;
            used[at] = true;
            left--;
        }
    }
    if (left > 0) {
        fail("in parallel: %zu answers too many", left);
    }
}

void run_parallel(const scene *scene, json_object *step, tokens *tokens, greatest *greatest)
{
    static racer racers[MAX_CALLS];
    json_object *parallel, *expect;
    json_object_object_get_ex(step, "parallel", &parallel);
    json_object_object_get_ex(step, "expect", &expect);
    size_t size = start_all(scene, parallel, tokens, racers);
    for (size_t at = 0; at < size; at++) {
        pthread_join(racers[at].thread, NULL);
    }
    fit_all(tokens, expect, racers, size);
    for (size_t at = 0; at < size; at++) {
        check_token(greatest, racers[at].step, racers[at].got);
        il_ledger_close(racers[at].ledger);
        free_call(&racers[at].call);
        json_object_put(racers[at].got);
    }
}
