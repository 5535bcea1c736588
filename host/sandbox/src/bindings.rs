//! The world `phasm:executor/executor` of `wit/`, as wasmtime sees it.

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "phasm:executor/executor",
    // A host function over its limit ends the attempt.
    imports: { default: trappable },
    exports: { default: async },
    // The invocation is written straight from the engine's strings into the guest's memory.
    ownership: Borrowing { duplicate_if_necessary: true },
});
