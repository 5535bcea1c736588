//! Whatever a guest does wrong is an outcome that names the cause (R-C1).

use std::sync::Arc;

use phasm::{executor::Executor, sandbox::Limits};
use phasm_engine::outcome::code::{ERROR, SUCCEEDED, TIMEOUT};
use tokio::sync::mpsc::unbounded_channel;

use crate::harness::{Deaf, Listener, call, config, invocation, outputs, plugins, within, working};

/// R-C1.
#[tokio::test]
async fn every_misbehaviour_has_its_code_and_names_its_cause() {
    let rows = [
        ("trap", "trap: integer divide by zero"),
        ("overflow", "stack overflow: limit of 512 KiB reached (limits.stack)"),
        ("allocate", "memory limit of 64 MiB reached (limits.memory)"),
        ("allocate-at-once", "memory limit of 64 MiB reached (limits.memory)"),
        ("big-memory", "memory limit of 64 MiB reached (limits.memory)"),
        ("table", "table limit of 65536 elements reached (limits.table-elements)"),
        ("flood", "log over its limit of 1 MiB (limits.log)"),
        ("flood-empty", "log over its limit of 1 MiB (limits.log)"),
        ("flood-stdout", "log over its limit of 1 MiB (limits.log)"),
        ("many-outputs", "output over its limit of 8 MiB (limits.output)"),
        (
            "bad-json",
            "output `pear` is not JSON: key must be a string at line 1 column 2; expected one JSON value",
        ),
        (
            "deep-json",
            "output `a` is not JSON: recursion limit exceeded at line 1 column 128; expected one JSON value",
        ),
        ("empty-name", "an output has an empty name; expected a name"),
        ("bad-detail", "detail is of type array; expected an object"),
        ("bad-text", "trap: invalid utf-8 sequence of 1 bytes from index 0"),
        ("wild-pointer", "trap: pointer out of bounds of memory"),
        ("panic", "guest panicked at src/lib.rs:7:9: no such fruit"),
        (
            "assert",
            "trap: wasm `unreachable` instruction executed; the guest said: main.c:7: work Assertion failed: fruit > 0",
        ),
        ("exit", "the guest exited with status 1 instead of returning an outcome"),
        ("timers", "trap: resource table has no free keys (limits.resources)"),
        (
            "wrong-version",
            "plugin `wrong-version`: the plugin wants phasm:executor@0.2.0, this host has phasm:executor@0.1.0",
        ),
    ];
    let plugins = plugins(config(), &rows.map(|(name, _)| name));
    for (name, message) in rows {
        let outcome = call(&plugins, invocation(name)).await;
        assert_eq!((outcome.code, &*outcome.message), (ERROR, message), "{name}");
    }
}

#[tokio::test]
async fn components_that_are_no_executors_say_what_is_missing() {
    let rows = [
        ("unknown-import", "the plugin imports `acme:teleport/beam@1.0.0`, which this host does not offer: "),
        ("unknown-function", "instance export `shout`"),
        ("wrong-world", "does not export `execute` of the world phasm:executor/executor@0.1.0"),
        ("wrong-types", "does not export `execute`"),
    ];
    let plugins = plugins(config(), &rows.map(|(name, _)| name));
    plugins.register("junk", b"junk".as_slice(), phasm::sandbox::Grants::default());
    plugins.register("module", b"\0asm\x01\0\0\0".as_slice(), phasm::sandbox::Grants::default());
    let rows = rows.into_iter().chain([
        ("junk", "plugin `junk`: the component cannot be compiled: "),
        ("module", "plugin `module`: this is a core WebAssembly module, not a component"),
    ]);
    for (name, part) in rows {
        let outcome = call(&plugins, invocation(name)).await;
        assert_eq!(outcome.code, ERROR, "{name}");
        assert!(outcome.message.contains(part), "{name}: {}", outcome.message);
    }
}

#[tokio::test]
async fn sizes_are_limited_before_anything_is_parsed() {
    let mut config = config();
    config.limits.memory = 256 << 20;
    let plugins = plugins(config, &["big-output", "big-log"]);
    for (name, message) in [
        ("big-output", "output over its limit of 8 MiB (limits.output)"),
        ("big-log", "more than 16 MiB handed to the host in one call (limits.hostcall)"),
    ] {
        let outcome = call(&plugins, invocation(name)).await;
        assert_eq!((outcome.code, &*outcome.message), (ERROR, message));
    }
}

#[tokio::test]
async fn limits_are_the_operators() {
    type Change = fn(&mut Limits);
    let limits = |change: Change| {
        let mut config = config();
        change(&mut config.limits);
        config
    };
    let rows: [(Change, &str, &str); 6] = [
        (|l| l.memory = 1 << 20, "allocate", "memory limit of 1 MiB reached (limits.memory)"),
        (|l| l.stack = 128 << 10, "overflow", "stack overflow: limit of 128 KiB reached (limits.stack)"),
        (|l| l.log = 100, "flood", "log over its limit of 100 bytes (limits.log)"),
        (|l| l.output = 0, "count", "output over its limit of 0 bytes (limits.output)"),
        (|l| l.component = 10, "echo", "over the limit of 10 bytes (limits.component)"),
        (|l| l.memories = 0, "echo", "the component cannot be compiled: module memory does not fit"),
    ];
    for (change, name, part) in rows {
        let outcome = call(&plugins(limits(change), &[name]), invocation(name)).await;
        assert!(outcome.code == ERROR && outcome.message.contains(part), "{name}: {}", outcome.message);
    }
}

#[tokio::test]
async fn a_guest_takes_a_slot_for_each_of_its_memories() {
    let message = |slots, memories| async move {
        let mut config = config();
        (config.slots, config.limits.memories) = (slots, memories);
        let plugins = plugins(config, &["two-memories"]);
        // More than fit at once, so that they have to wait for each other.
        let calls = (0..10).map(|_| plugins.execute(invocation("two-memories"), Arc::new(Deaf)));
        let outcomes = tokio::task::JoinSet::from_iter(calls).join_all().await;
        outcomes.into_iter().map(|outcome| outcome.message.to_string()).max().unwrap()
    };
    assert_eq!(message(3, 8).await, "");
    assert!(
        message(1, 8).await.ends_with("the plugin takes 2 slots of the sandbox, which has 1 (limits.slots)")
    );
    assert!(message(3, 1).await.ends_with(
        "the plugin has 2 memories and 0 tables; the limits are 1 and 16 (limits.memories, limits.tables)"
    ));
}

#[tokio::test]
async fn without_a_pool_calls_are_made_on_demand() {
    let mut config = config();
    // More than the address space: 2^32 entries of 8 bytes for each of 4096 tables.
    (config.slots, config.limits.table_elements) = (2048, u32::MAX);
    let plugins = plugins(config, &["count", "allocate"]);
    let warnings = plugins.sandbox().warnings().concat();
    assert!(warnings.contains("every call allocates on demand"), "{warnings}");
    for _ in 0..2 {
        let outcome = call(&plugins, invocation("count")).await;
        assert_eq!(outputs(&outcome).get("n").unwrap().to_json(), "2");
    }
    assert_eq!(
        &*call(&plugins, invocation("allocate")).await.message,
        "memory limit of 64 MiB reached (limits.memory)"
    );
}

/// R-W10.
#[tokio::test]
async fn an_invocation_lowers_the_memory_limit() {
    let plugins = plugins(config(), &["allocate"]);
    for (asked, message) in [
        (128 << 10, "memory limit of 128 KiB reached (resources.memory of the task)"),
        (1 << 40, "memory limit of 64 MiB reached (limits.memory)"),
    ] {
        let mut invocation = invocation("allocate");
        invocation.memory = Some(asked);
        assert_eq!(&*call(&plugins, invocation).await.message, message);
    }
}

/// On a single guest thread, a healthy call comes to its end beside five that misbehave, before the first of them does.
#[tokio::test]
async fn a_healthy_call_is_not_held_up_by_those_that_misbehave() {
    let bad = ["spin", "allocate", "trap", "flood", "big-output"];
    let mut config = config();
    config.threads = std::num::NonZeroUsize::new(1);
    config.limits.memory = 128 << 20;
    let plugins = plugins(config, &[&bad[..], &["echo"]].concat());
    for name in bad.iter().chain(&["echo"]) {
        plugins.load(name).await.unwrap();
    }
    let (ended, mut in_order) = unbounded_channel();
    for name in bad {
        let (listener, mut heard) = Listener::new();
        let invocation = if name == "spin" { within(4000, invocation(name)) } else { working(name, 8) };
        let (attempt, ended) = (plugins.execute(invocation, listener), ended.clone());
        plugins.sandbox().guest_runtime().spawn(async move { ended.send((name, attempt.await)) });
        assert_eq!(heard.recv().await.unwrap(), "Info started");
    }
    let healthy = plugins.execute(working("echo", 3), Arc::new(Deaf));
    plugins.sandbox().guest_runtime().spawn(async move { ended.send(("echo", healthy.await)) });

    let (first, outcome) = in_order.recv().await.unwrap();
    assert_eq!((first, outcome.code, outputs(&outcome).len()), ("echo", SUCCEEDED, 3), "{}", outcome.message);
    let mut rest = Vec::new();
    while let Some((name, outcome)) = in_order.recv().await {
        rest.push((name, outcome.code, outcome.message.to_string()));
    }
    rest.sort();
    let expected = [
        ("allocate", ERROR, "memory limit of 128 MiB reached (limits.memory)"),
        ("big-output", ERROR, "output over its limit of 8 MiB (limits.output)"),
        ("flood", ERROR, "log over its limit of 1 MiB (limits.log)"),
        ("spin", TIMEOUT, "stopped at its deadline"),
        ("trap", ERROR, "trap: integer divide by zero"),
    ];
    assert_eq!(rest, expected.map(|(name, code, message)| (name, code, message.to_owned())));
}
