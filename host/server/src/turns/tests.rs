use std::sync::{Arc, Mutex};

use axum::{
    body::{Body, Bytes, HttpBody as _},
    response::Response,
};
use http_body_util::{BodyExt as _, Full};
use tokio::{sync::oneshot, task::JoinSet};

use super::*;

fn of(tenant: &str) -> Holder {
    Holder { tenant: tenant.into(), key: "k".into(), weight: 1 }
}

/// Serves a request of each tenant, which are all ready before the first is polled. Returns whose poll was next, for each poll.
async fn served(tenants: impl Iterator<Item = &'static str>, polls: usize) -> Vec<&'static str> {
    let (turns, order) = (FairQueue::of_turns(1), Arc::new(Mutex::new(Vec::new())));
    let mut requests = JoinSet::new();
    for tenant in tenants {
        let (turns, order) = (turns.clone(), Arc::clone(&order));
        requests.spawn(async move {
            let request = async {
                for poll in 0..polls {
                    if poll > 0 {
                        yield_now().await;
                    }
                    order.lock().expect("the order").push(tenant);
                }
            };
            in_turns(&turns, &of(tenant), request).await;
        });
    }
    requests.join_all().await;
    std::mem::take(&mut *order.lock().expect("the order"))
}

/// R-A105. The light tenant's request is the last one that came.
#[tokio::test]
async fn a_request_is_served_before_those_of_a_tenant_that_has_had_more() {
    let order = served(std::iter::repeat_n("heavy", 50).chain(["light"]), 1).await;
    assert_eq!(order.len(), 51);
    assert_eq!(order.iter().position(|tenant| *tenant == "light"), Some(1), "{order:?}");
}

/// R-A105. Each poll is a turn: a request of many polls does not pass those of others between them.
#[tokio::test]
async fn tenants_take_turns_poll_by_poll() {
    let order = served(std::iter::repeat_n("a", 20).chain(["b"]), 30).await;
    let last = order.iter().rposition(|tenant| *tenant == "b").expect("b was served");
    // In the order of their coming, b would have its last turn after 20 times 30 of a. Two of a's come between, while b enters again.
    assert!(last < 100, "{last} of {}: {order:?}", order.len());
}

/// R-A105.
#[tokio::test]
async fn a_request_that_waits_has_no_turn() {
    let turns = FairQueue::of_turns(1);
    let (send, receive) = oneshot::channel();
    let waiting = tokio::spawn({
        let turns = turns.clone();
        async move { in_turns(&turns, &of("a"), receive).await }
    });
    for _ in 0..10 {
        yield_now().await;
    }
    assert_eq!(turns.usage().held, 0);
    assert_eq!(in_turns(&turns, &of("a"), async { 7 }).await, 7);
    send.send(1).expect("it waits");
    assert_eq!(waiting.await.expect("it ends"), Ok(1));
    assert_eq!((turns.usage().held, turns.usage().waiting), (0, 0));
}

/// R-A105. A client that hangs up in the queue, or in its turn, leaves nothing.
#[tokio::test]
async fn a_request_that_is_gone_leaves_no_turn() {
    let turns = FairQueue::of_turns(1);
    let mut requests = JoinSet::new();
    for _ in 0..10 {
        let turns = turns.clone();
        requests.spawn(async move { in_turns(&turns, &of("a"), yield_now()).await });
    }
    yield_now().await;
    requests.shutdown().await;
    assert_eq!((turns.usage().held, turns.usage().waiting), (0, 0));
}

/// R-A105. Every byte comes, in parts of which each is a turn; its length is known before.
#[tokio::test]
async fn a_large_body_is_sent_in_turns() {
    let (turns, bytes) = (FairQueue::of_turns(1), (0..1_000_003_u32).map(|at| at as u8).collect::<Vec<_>>());
    let sent = sent_in_turns(Response::new(Body::from(bytes.clone())), &turns, of("heavy"));
    assert_eq!(sent.body().size_hint().exact(), Some(bytes.len() as u64));
    let order = Arc::new(Mutex::new(Vec::new()));
    let (heavy, light) = (Arc::clone(&order), Arc::clone(&order));
    let sending = tokio::spawn(async move {
        let (mut body, mut got) = (sent.into_body(), Vec::new());
        while let Some(frame) = body.frame().await {
            heavy.lock().expect("the order").push("heavy");
            got.extend(frame.expect("a part").into_data().expect("data"));
        }
        assert!(body.is_end_stream());
        got
    });
    let request = async { light.lock().expect("the order").push("light") };
    in_turns(&turns, &of("light"), request).await;
    assert_eq!(sending.await.expect("sent"), bytes);
    let order = order.lock().expect("the order");
    assert_eq!(order.len(), 1 + bytes.len().div_ceil(64 << 10));
    assert!(order.iter().position(|who| *who == "light") <= Some(2), "{order:?}");
}

/// R-A105. A small body, and a stream whose length is not known, are sent as they are.
#[tokio::test]
async fn a_small_body_takes_no_turn() {
    let turns = FairQueue::of_turns(1);
    let _taken = turns.enter(&of("other")).await;
    let unknown = Full::<Bytes>::from("a".repeat(1 << 20)).map_frame(|frame| frame);
    for body in [Body::from("small"), Body::new(unknown)] {
        let sent = sent_in_turns(Response::new(body), &turns, of("a"));
        assert!(sent.into_body().frame().await.is_some());
    }
}
