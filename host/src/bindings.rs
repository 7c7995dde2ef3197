//! What is generated from the WIT package; nothing outside this crate sees it.
#![allow(missing_docs, unreachable_pub, clippy::all, reason = "generated")]

wasmtime::component::bindgen!({
    path: "wit",
    world: "idempotency:ledger/provider",
    imports: { default: async | trappable },
    exports: { default: async },
    with: {
        "wasi:keyvalue/store.bucket": crate::keyvalue::bucket::Bucket,
        "wasi:keyvalue/atomics.cas": crate::keyvalue::atomic::Cas,
    },
});
