//! The memory of all guests together.

use std::sync::Arc;

use phasm::{
    executor::{Executor as _, Invocation},
    plugins::Plugins,
};
use phasm_engine::outcome::{
    Outcome,
    code::{ERROR, SUCCEEDED},
};
use tokio::{sync::mpsc::UnboundedReceiver, task::JoinSet};

use crate::harness::{Deaf, Listener, call, config, invocation, plugins, working};

const MIB: u64 = 1 << 20;

/// A sandbox whose guests have 512 MiB together, and 64 of them a part of 4 MiB each.
fn tight(names: &[&str]) -> Plugins {
    let mut config = config();
    (config.slots, config.all_memory) = (64, Some(512 * MIB));
    plugins(config, names)
}

fn of_tenant(namespace: &str, executor_type: &str) -> Invocation {
    Invocation { namespace: namespace.into(), ..working(executor_type, 3) }
}

/// Lets `count` guests of each tenant fill 32 MiB, and tells how many have done so when all others have ended.
async fn hoard(
    plugins: &Plugins,
    tenants: &[&str],
    count: usize,
) -> (usize, Vec<Outcome>, JoinSet<Outcome>, UnboundedReceiver<String>) {
    let (listener, mut heard) = Listener::new();
    let mut attempts = JoinSet::new();
    for tenant in tenants {
        for _ in 0..count {
            let attempt = plugins.execute(of_tenant(tenant, "hoard"), listener.clone());
            attempts.spawn_on(attempt, plugins.sandbox().guest_runtime());
        }
    }
    let (mut held, mut failed) = (0, Vec::new());
    while held + failed.len() < tenants.len() * count {
        tokio::select! {
            said = heard.recv() => held += usize::from(said.unwrap() == "Info started"),
            ended = attempts.join_next() => failed.push(ended.unwrap().unwrap()),
        }
    }
    (held, failed, attempts, heard)
}

/// R-I43: many guests that fill their memory stay within the budget of all, and the next one finds enough.
#[tokio::test]
async fn many_that_fill_their_memory_stay_within_the_budget() {
    let plugins = tight(&["hoard", "count"]);
    let tenants = ["a", "b", "c"];
    let (held, failed, attempts, _heard) = hoard(&plugins, &tenants, 16).await;
    assert!(held >= 6 && held as u64 * 32 <= 512, "{held} of {}", held + failed.len());
    for outcome in failed {
        assert_eq!(outcome.code, ERROR);
        let says = "no 32 MiB of memory for one attempt: of the 512 MiB that all share ";
        let names = outcome.message.ends_with("their part (limits.all-memory)");
        assert!(outcome.message.starts_with(says) && names, "{}", outcome.message);
    }
    // Within its share no guest fails or waits.
    for tenant in ["a", "d"] {
        let innocents = (0..8).map(|_| plugins.execute(of_tenant(tenant, "count"), Arc::new(Deaf)));
        let innocents = JoinSet::from_iter(innocents).join_all().await;
        assert!(innocents.iter().all(|outcome| outcome.code == SUCCEEDED), "{innocents:?}");
    }
    drop(attempts);
}

/// R-I43: what was taken comes back, however its attempt ended.
#[tokio::test]
async fn memory_comes_back() {
    let plugins = tight(&["hoard", "wide"]);
    for _ in 0..5 {
        let (held, _, mut attempts, _heard) = hoard(&plugins, &["a"], 16).await;
        assert!(held >= 1, "{held}");
        attempts.shutdown().await;
        // Waits for what is on its way back.
        assert_eq!(call(&plugins, of_tenant("a", "wide")).await.code, SUCCEEDED);
    }
}

/// R-I43: one guest alone gets no more than leaves as much to others.
#[tokio::test]
async fn one_alone_leaves_something_to_others() {
    let mut config = config();
    (config.slots, config.all_memory, config.limits.memory) = (16, Some(64 * MIB), 1 << 40);
    let plugins = plugins(config, &["allocate"]);
    assert_eq!(plugins.sandbox().memory_limit(), 18 * MIB);
    let outcome = call(&plugins, invocation("allocate")).await;
    let message = "memory limit of 18 MiB reached, the most that one attempt gets of the shared memory (limits.all-memory)";
    assert_eq!((outcome.code, &*outcome.message), (ERROR, message));
}

/// R-I43: a guest that begins with much waits until that is free.
#[tokio::test]
async fn who_begins_with_much_waits_for_it() {
    let plugins = tight(&["hoard", "wide", "count"]);
    plugins.load("wide").await.unwrap();
    let (_, _, mut attempts, _heard) = hoard(&plugins, &["default", "b", "c", "d"], 16).await;
    let mut waiting = JoinSet::from_iter([plugins.execute(invocation("wide"), Arc::new(Deaf))]);
    // Another comes and goes meanwhile.
    tokio::select! {
        biased;
        ended = waiting.join_next() => panic!("{ended:?}"),
        outcome = call(&plugins, of_tenant("e", "count")) => assert_eq!(outcome.code, SUCCEEDED),
    }
    attempts.shutdown().await;
    let outcome = waiting.join_next().await.unwrap().unwrap();
    assert_eq!(outcome.code, SUCCEEDED, "{}", outcome.message);
}
