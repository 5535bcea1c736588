//! The same work by hand: for each task the condition, its inputs as JSON, a fresh instance, its outputs parsed, and an event
//! before and after. There is no graph, no limit, no recovery, and no way to ask it anything.

use std::{
    path::Path,
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
};

use phasm::engine::{
    expr::{Doubts, Env, Expr},
    value::{Map, Value},
};
use rusqlite::Connection;
use serde_json::json;
use tokio::sync::{Semaphore, oneshot};

use crate::{
    floor::{Bare, Callable},
    measure::Measure,
    raw,
};

/// A line of the journal, and who waits until it is durable.
struct Line {
    body: Vec<u8>,
    durable: Option<oneshot::Sender<()>>,
}

/// The task before, as a condition sees it.
struct Before;

impl Env for Before {
    fn get(&self, _: &[Arc<str>]) -> Value {
        "Succeeded".into()
    }
}

/// One after the other, in memory.
pub(crate) fn one_in_flight(bare: &Bare, tasks: u32) -> Measure {
    let (component, condition) = (Arc::clone(&bare.component), condition());
    let measuring = Measure::start();
    bare.runtime.block_on(async {
        let all = tokio::spawn(async move {
            let mut journal = Vec::new();
            for index in 0..tasks {
                journal.push(began(index, &condition));
                journal.push(ended(index, &component).await);
            }
        });
        all.await.expect("no panic");
    });
    measuring.stop(tasks.into())
}

/// Runs `in_flight` tasks at once, each end durable before the next begins in its place; starts are not waited for.
pub(crate) fn durable(bare: &Bare, tasks: u32, in_flight: usize, file: &Path) -> Measure {
    let connection = raw::open(file);
    let (lines, queue) = channel();
    let writer = std::thread::spawn(move || write(&connection, &queue));
    let places = Arc::new(Semaphore::new(in_flight));
    let measuring = Measure::start();
    bare.runtime.block_on(async {
        let condition = condition();
        for index in 0..tasks {
            let place = Arc::clone(&places).acquire_owned().await.expect("open");
            let (component, condition, lines) =
                (Arc::clone(&bare.component), condition.clone(), lines.clone());
            tokio::spawn(async move {
                one(index, &component, &condition, &lines).await;
                drop(place);
            });
        }
        let all = u32::try_from(in_flight).expect("few");
        drop(places.acquire_many(all).await.expect("open"));
    });
    let measure = measuring.stop(tasks.into());
    drop(lines);
    writer.join().expect("no panic");
    measure
}

async fn one(index: u32, component: &Callable, condition: &Expr, lines: &Sender<Line>) {
    lines.send(Line { body: began(index, condition), durable: None }).expect("a writer");
    let body = ended(index, component).await;
    let (durable, heard) = oneshot::channel();
    lines.send(Line { body, durable: Some(durable) }).expect("a writer");
    heard.await.expect("durable");
}

fn write(connection: &Connection, queue: &Receiver<Line>) {
    while let Ok(first) = queue.recv() {
        let lines: Vec<Line> = std::iter::once(first).chain(queue.try_iter().take(1023)).collect();
        raw::commit(connection, lines.iter().map(|line| line.body.as_slice()));
        for heard in lines.into_iter().filter_map(|line| line.durable) {
            heard.send(()).expect("the receiver waits");
        }
    }
}

fn condition() -> Expr {
    Expr::compile("tasks.t0.phase == 'Succeeded'").expect("it is one")
}

fn began(index: u32, condition: &Expr) -> Vec<u8> {
    assert!(condition.test(&Before, &mut Doubts::default()).expect("a condition"));
    json!({ "type": "started", "task": index, "attempt": 1, "dispatch": 1 }).to_string().into_bytes()
}

async fn ended(index: u32, component: &Callable) -> Vec<u8> {
    let item = json!({ "sku": format!("A-{index}"), "tags": ["new", "sale"], "price": 12.5 });
    let outcome = component.call(index, index.to_string(), item.to_string()).await;
    let outputs = outcome.outputs.into_iter();
    let outputs: Map =
        outputs.map(|output| (output.name.into(), Value::from_json(&output.value).expect("JSON"))).collect();
    let event = json!({ "type": "ended", "task": index, "attempt": 1, "dispatch": 1, "phase": "Succeeded",
        "code": outcome.code, "outputs": serde_json::Value::from(&Value::from(outputs)) });
    event.to_string().into_bytes()
}
