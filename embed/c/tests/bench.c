/* bench [PAIRS]: how long a begin and a complete take together, over the store in memory. */
#include <time.h>
#include <unistd.h>

#include "check.h"

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static void pair(il_ledger *ledger, size_t number, size_t bytes, const char *payload)
{
    char key[60];
    snprintf(key, sizeof key, "order %zu of %zu bytes", number, bytes);
    il_begin_answer begun;
    CHECK(il_begin(ledger, il_str(key), NULL, &begun) == IL_OK && begun.kind == IL_FRESH, "%s",
          key);
    const il_complete_options options = {.token = il_u64(begun.is.fresh.token)};
    il_complete_answer completed;
    CHECK(il_complete(ledger, il_str(key), il_data(payload, bytes), &options, &completed) ==
                  IL_OK && completed.kind == IL_RECORDED, "%s", key);
}

int main(int size, char **words)
{
    static const size_t SIZES[] = {0, 100, 1000, 65536};
    size_t pairs = size > 1 ? strtoul(words[1], NULL, 10) : 10000;
    double *took_us = calloc(pairs, sizeof *took_us);
    char *payload = calloc(1, 65536);
    il_runtime *runtime = open_runtime();
    for (size_t row = 0; row < sizeof SIZES / sizeof *SIZES; row++) {
        il_store *store = open_memory();
        il_ledger *ledger = open_ledger(runtime, store);
        size_t some = SIZES[row] > 1000 ? pairs / 10 : pairs;
        for (size_t at = 0; at < some; at++) {
            double start = now_us();
            pair(ledger, at, SIZES[row], payload);
            took_us[at] = now_us() - start;
        }
        qsort(took_us, some, sizeof *took_us, compare);
        printf("C, memory, %6zu bytes: median %.1f us, least %.1f us\n", SIZES[row],
               took_us[some / 2], took_us[0]);
        il_ledger_close(ledger);
        il_store_close(store);
    }
    il_runtime_close(runtime);
    free(payload);
    free(took_us);
    return 0;
}
