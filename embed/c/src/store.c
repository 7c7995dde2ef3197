#include <stdlib.h>

#include "internal.h"

il_store *il_store_new(const il_store_calls *calls, void *self)
{
    il_store *made = malloc(sizeof *made);
    if (made != NULL) {
        made->calls = calls;
        made->self = self;
    }
    return made;
}

void il_store_close(il_store *store)
{
    if (store == NULL) {
        return;
    }
    if (store->calls->close != NULL) {
        store->calls->close(store->self);
    }
    free(store);
}

const il_store_calls *il_store_calls_of(const il_store *store, void **self)
{
    *self = store->self;
    return store->calls;
}
