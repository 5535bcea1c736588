//! Deadlines, aborts, waiting, and the ticker.

use std::sync::Arc;

use phasm::executor::Executor;
use phasm_engine::outcome::code::{ERROR, SUCCEEDED, TIMEOUT};
use tokio::{sync::mpsc::unbounded_channel, task::JoinSet};

use crate::harness::{Deaf, Listener, call, config, invocation, plugins, within};

#[tokio::test]
async fn a_deadline_stops_whoever_computes_and_whoever_waits() {
    let names = ["spin", "spin-at-start", "fill", "sleep"];
    let plugins = plugins(config(), &names);
    for name in names {
        plugins.load(name).await.unwrap();
        for millis in [0, 30] {
            let outcome = call(&plugins, within(millis, invocation(name))).await;
            assert_eq!((outcome.code, &*outcome.message), (TIMEOUT, "stopped at its deadline"), "{name}");
        }
    }
}

#[tokio::test]
async fn a_deadline_is_met_while_others_compute() {
    let mut config = config();
    config.threads = std::num::NonZeroUsize::new(1);
    let plugins = plugins(config, &["spin", "sleep"]);
    plugins.load("sleep").await.unwrap();
    let (listener, mut heard) = Listener::new();
    let spinner = tokio::spawn(plugins.execute(invocation("spin"), listener));
    heard.recv().await.unwrap();
    assert_eq!(call(&plugins, within(20, invocation("sleep"))).await.code, TIMEOUT);
    assert!(!spinner.is_finished());
    spinner.abort();
}

/// A spinning guest that is dropped gives up its thread and its slot: with one of each, the next call goes through.
#[tokio::test]
async fn dropping_a_call_stops_the_guest() {
    let mut config = config();
    (config.slots, config.threads) = (1, std::num::NonZeroUsize::new(1));
    let plugins = plugins(config, &["spin", "sleep", "echo"]);
    for name in ["spin", "sleep"] {
        let (listener, mut heard) = Listener::new();
        let attempt = tokio::spawn(plugins.execute(invocation(name), listener));
        assert_eq!(heard.recv().await.unwrap(), "Info started");
        attempt.abort();
        assert!(attempt.await.unwrap_err().is_cancelled());
        assert_eq!(call(&plugins, invocation("echo")).await.code, SUCCEEDED);
    }
}

#[tokio::test]
async fn a_thousand_calls_wait_in_the_host_at_once() {
    let mut config = config();
    config.slots = 2048;
    let plugins = plugins(config, &["sleep", "echo"]);
    assert!(plugins.sandbox().slots() >= 1000, "{:?}", plugins.sandbox().warnings());
    let (listener, mut heard) = Listener::new();
    let mut waiting = JoinSet::new();
    for _ in 0..1000 {
        waiting.spawn_on(
            plugins.execute(invocation("sleep"), listener.clone()),
            plugins.sandbox().guest_runtime(),
        );
    }
    for _ in 0..1000 {
        assert_eq!(heard.recv().await.unwrap(), "Info started");
    }
    assert!(waiting.try_join_next().is_none());
    // They hold no thread.
    assert_eq!(call(&plugins, invocation("echo")).await.code, SUCCEEDED);
    waiting.shutdown().await;
    assert_eq!(call(&plugins, invocation("echo")).await.code, SUCCEEDED);
}

#[tokio::test]
async fn the_ticker_parks_while_no_guest_computes() {
    let plugins = plugins(config(), &["spin", "sleep"]);
    let sandbox = plugins.sandbox().clone();
    for _ in 0..2 {
        let (listener, mut heard) = Listener::new();
        let spinner = tokio::spawn(plugins.execute(invocation("spin"), listener));
        heard.recv().await.unwrap();
        let before = sandbox.ticks();
        while sandbox.ticks() < before + 10 {
            tokio::task::yield_now().await;
        }
        assert!(sandbox.is_ticking());
        spinner.abort();
        parked(&sandbox).await;
    }
    // A guest that waits in the host is no reason to tick, nor is its deadline.
    let (listener, mut heard) = Listener::new();
    let waiting = tokio::spawn(plugins.execute(within(3_600_000, invocation("sleep")), listener));
    heard.recv().await.unwrap();
    parked(&sandbox).await;
    assert!(!waiting.is_finished());
    waiting.abort();
}

async fn parked(sandbox: &phasm::sandbox::Sandbox) {
    while sandbox.is_ticking() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_fault_of_the_host_is_an_outcome() {
    struct Faulty;
    impl phasm::executor::Observer for Faulty {
        fn log(&self, _: phasm::executor::Level, text: &str) {
            panic!("cannot hear {text}");
        }
        fn progress(&self, _: Option<f64>, _: &str) {}
        fn activity(&self) {}
    }
    let plugins = plugins(config(), &["spin", "echo"]);
    let outcome = plugins.execute(invocation("spin"), Arc::new(Faulty)).await;
    assert_eq!((outcome.code, &*outcome.message), (ERROR, "host fault: cannot hear started"));
    assert_eq!(call(&plugins, invocation("echo")).await.code, SUCCEEDED);
}

/// The engine's loop need not be on tokio at all, and the last owner may go while guests run.
#[test]
fn a_call_can_be_awaited_without_a_runtime() {
    let plugins = plugins(config(), &["echo", "spin"]);
    let (ended, mut outcomes) = unbounded_channel();
    let attempt = plugins.execute(invocation("echo"), Arc::new(Deaf));
    std::thread::spawn(move || ended.send(block_on(attempt)));
    assert_eq!(outcomes.blocking_recv().unwrap().code, SUCCEEDED);
    let (listener, mut heard) = Listener::new();
    let spinner = plugins.execute(invocation("spin"), listener);
    let spinner = plugins.sandbox().guest_runtime().spawn(spinner);
    assert_eq!(heard.blocking_recv().unwrap(), "Info started");
    drop(plugins);
    spinner.abort();
}

/// Polls `future` on this thread, parking in between.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = std::task::Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        if let std::task::Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        std::thread::park();
    }
}
