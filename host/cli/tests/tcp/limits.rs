//! Limits of connections in number, size and time.

use std::time::{Duration, Instant};

use phasm::sandbox::Limits;
use serde_json::json;
use tokio::net::{TcpSocket, TcpStream};

use super::TIER;
use crate::{
    attempt,
    guest::{Guests, order, said},
    server::{Manner, News, Server},
};

fn limited(port: u16, change: impl FnOnce(&mut Limits)) -> Guests {
    let mut limits = Limits::default();
    change(&mut limits);
    Guests::new(TIER, attempt::tcp(&[&format!("127.0.0.1:{port}")], &[]), limits)
}

/// R-I143: each limit ends what meets it, and names itself.
#[tokio::test]
async fn limits_of_connections_are_met_and_named() {
    let hang = Server::start(Manner::Hang).await;
    let (flood, swallow) = (Server::start(Manner::Flood).await, Server::start(Manner::Swallow).await);
    let hold = |times: u32| {
        let to = format!("127.0.0.1:{}", hang.port);
        json!({ "act": "hold", "to": to, "times": times })
    };
    let guests = limited(hang.port, |limits| limits.tcp_connections = 3);
    assert_eq!(said(&guests.tell(hold(3)).await), "\"3\"");
    let refused = said(&guests.tell(hold(4)).await);
    assert!(refused.contains("limit of 3 connections at once reached (limits.tcp-connections)"), "{refused}");
    let guests = limited(hang.port, |limits| limits.tcp_connects = 5);
    let retry = json!({ "act": "retry", "to": format!("127.0.0.1:{}", hang.port), "times": 1000 });
    let refused = said(&guests.tell(retry).await);
    assert!(
        refused.contains("limit of 5 TCP connections and look-ups reached (limits.tcp-connects)"),
        "{refused}"
    );
    let guests = limited(flood.port, |limits| limits.tcp_received = 65_536);
    let outcome = guests.tell(order("drain", flood.port)).await;
    let refused = said(&outcome);
    assert!(refused.contains("limit of 64 KiB to receive by TCP reached (limits.tcp-received)"), "{refused}");
    assert!(outcome.metered.bytes_in < 65_536 + 2 * 16_384, "{:?}", outcome.metered);
    let guests = limited(swallow.port, |limits| limits.tcp_sent = 65_536);
    let outcome = guests.tell(order("flood", swallow.port)).await;
    let refused = said(&outcome);
    assert!(refused.contains("limit of 64 KiB to send by TCP reached (limits.tcp-sent)"), "{refused}");
    assert_eq!(outcome.metered.bytes_out, 65_536);
}

/// R-I145: a side that neither reads nor sends holds up its own guest, and only until its deadline; then the connection is closed.
#[tokio::test]
async fn the_end_of_an_attempt_closes_what_it_opened() {
    for (manner, act) in [
        (Manner::Hang, "drain"),
        (Manner::Hang, "flood"),
        (Manner::Flood, "drain"),
        (Manner::Swallow, "flood"),
    ] {
        let mut server = Server::start(manner).await;
        let guests = limited(server.port, |limits| {
            limits.tcp_sent = u64::MAX;
            limits.tcp_received = u64::MAX;
        });
        // The guest is compiled before there is a deadline.
        assert_eq!(guests.tell(json!({ "act": "listen", "to": "127.0.0.1:0" })).await.code, 2);
        let deadline = Instant::now() + Duration::from_secs(1);
        let (outcome, _) = guests.heard(order(act, server.port), Some(deadline)).await;
        assert_eq!(outcome.code, 4, "{manner:?} {act}: {}", outcome.message);
        assert_eq!(server.news.recv().await, Some(News::Opened), "{manner:?} {act}");
        assert!(matches!(server.news.recv().await, Some(News::Closed(_))), "{manner:?} {act}");
    }
    // A call that is dropped leaves nothing either.
    let mut server = Server::start(Manner::Hang).await;
    let guests = Guests::local(TIER, server.port);
    let mut asking = Box::pin(guests.tell(order("drain", server.port)));
    let opened = tokio::select! {
        _ = &mut asking => None,
        news = server.news.recv() => news,
    };
    drop(asking);
    assert_eq!((opened, server.news.recv().await), (Some(News::Opened), Some(News::Closed(0))));
}

/// R-I145: what a guest has sent arrives, and a connection that it leaves open is closed and logged.
#[tokio::test]
async fn a_connection_that_is_left_open_ends_with_its_attempt() {
    let mut server = Server::start(Manner::Swallow).await;
    let guests = Guests::local(TIER, server.port);
    let to = format!("127.0.0.1:{}", server.port);
    let send = "x".repeat(10_000);
    let (outcome, lines) = guests.heard(json!({ "act": "leave", "to": to, "send": send }), None).await;
    assert_eq!(said(&outcome), "\"left\"");
    assert_eq!(server.news.recv().await, Some(News::Opened));
    assert!(matches!(server.news.recv().await, Some(News::Closed(_))));
    let line = format!("Info TCP {to}, sent 10000 bytes, received 0 bytes, ");
    assert!(lines.iter().any(|said| said.starts_with(&line)), "{lines:?}");
}

/// R-I143: an unreachable address fails in time, and says so.
#[tokio::test]
async fn connecting_takes_no_longer_than_its_limit() {
    // The queue of a listener that accepts nothing is full with one more than it was made for.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let port = listener.local_addr().unwrap().port();
    let _held = [
        TcpStream::connect(("127.0.0.1", port)).await.unwrap(),
        TcpStream::connect(("127.0.0.1", port)).await.unwrap(),
    ];
    let guests = limited(port, |limits| limits.tcp_connect_time = Duration::from_millis(200));
    let (outcome, lines) = guests.heard(order("ask", port), None).await;
    assert_eq!(said(&outcome), "TimedOut");
    assert!(lines.contains(&format!("Warn TCP 127.0.0.1:{port}: timeout of connecting")), "{lines:?}");
}
