//! Connections that are granted, and those that are not.

use phasm::sandbox::Limits;
use serde_json::json;

use super::TIER;
use crate::{
    attempt,
    guest::{Guests, order, said},
    server::{Manner, News, Server},
};

/// R-I140, R-I146: what is granted gets through, is a line of the log, and counts.
#[tokio::test]
async fn a_granted_connection_is_made_logged_and_metered() {
    let mut server = Server::start(Manner::Echo).await;
    let port = server.port;
    let hosts = [("db.internal", "127.0.0.1")];
    let rows = [
        (format!("127.0.0.1:{port}"), vec![], format!("127.0.0.1:{port}"), format!("127.0.0.1:{port}")),
        (
            format!("localhost:{port}"),
            vec![],
            format!("localhost:{port}"),
            format!("localhost:{port} (127.0.0.1)"),
        ),
        ("127.0.0.1:*".to_owned(), vec![], format!("127.0.0.1:{port}"), format!("127.0.0.1:{port}")),
        (
            format!("*.internal:{port}"),
            vec!["127.0.0.0/8"],
            format!("DB.internal:{port}"),
            format!("db.internal:{port} (127.0.0.1)"),
        ),
    ];
    for (pattern, networks, to, shown) in rows {
        let tcp = attempt::tcp(&[&pattern], &networks);
        let guests = Guests::resolving(TIER, tcp, Limits::default(), &hosts);
        let (outcome, lines) = guests.heard(json!({ "act": "ask", "to": to, "send": "hello" }), None).await;
        assert_eq!(said(&outcome), "\"hello\"", "{pattern}: {lines:?}");
        assert_eq!((outcome.metered.bytes_in, outcome.metered.bytes_out), (5, 5), "{pattern}");
        let line = format!("Info TCP {shown}, sent 5 bytes, received 5 bytes, ");
        assert!(lines.iter().any(|said| said.starts_with(&line)), "{pattern}: {lines:?}");
        assert_eq!(server.news.recv().await, Some(News::Opened));
        assert_eq!(server.news.recv().await, Some(News::Closed(5)));
    }
}

/// R-I140 to R-I142: the message has the line that grants what was refused, and nothing is connected to.
#[tokio::test]
async fn what_is_not_granted_is_refused_and_explained() {
    let mut server = Server::start(Manner::Echo).await;
    let port = server.port;
    let granting =
        |line: &str| format!("`{line}` under `[grants.connect]` in the configuration (`--config`) grants it");
    let local = format!("127.0.0.1:{port}");
    let named = format!("db.internal:{port}");
    let other = format!("127.0.0.1:{}", if port == 1 { 2 } else { 1 });
    let rows: [(&[&str], &str, String); 8] = [
        (
            &[],
            &local,
            format!("not granted: network; refused: connections: {}", granting("tcp = [\"HOST:PORT\"]")),
        ),
        (&[], &named, granting("tcp = [\"db.internal:PORT\"]")),
        (&[&other], &local, granting(&format!("tcp = [\"{local}\"]"))),
        (&["*.example:*"], &local, granting(&format!("tcp = [\"{local}\"]"))),
        (&["*.example:*"], &named, granting("tcp = [\"db.internal:PORT\"]")),
        (&["*:*"], &local, granting("tcp-networks = [\"127.0.0.1\"]")),
        (&[&named], &named, granting("tcp-networks = [\"127.0.0.1\"]")),
        (&["db.internal:1"], &named, granting("tcp-networks = [\"127.0.0.1\"]")),
    ];
    for (allow, to, expected) in rows {
        let hosts = [("db.internal", "127.0.0.1")];
        let guests = Guests::resolving(TIER, attempt::tcp(allow, &[]), Limits::default(), &hosts);
        let outcome = guests.tell(json!({ "act": "ask", "to": to, "send": "hello" })).await;
        assert_eq!(outcome.code, 2, "{allow:?} {to}: {}", outcome.message);
        assert!(outcome.message.contains(&expected), "{allow:?} {to}: {}", outcome.message);
    }
    let guests = Guests::resolving(
        TIER,
        attempt::tcp(&["db.internal:1"], &["127.0.0.1"]),
        Limits::default(),
        &[("db.internal", "127.0.0.1")],
    );
    let outcome = guests.tell(json!({ "act": "ask", "to": named, "send": "hello" })).await;
    let expected = format!(
        "PermissionDenied; refused: connection to db.internal (127.0.0.1) at port {port}: not granted"
    );
    assert!(outcome.message.starts_with(&expected), "{}", outcome.message);
    assert!(server.news.try_recv().is_err());
}

/// R-I142: the address of another name, or one that the guest knows by itself, is not the granted name's.
#[tokio::test]
async fn an_address_that_was_not_looked_up_is_refused() {
    let mut server = Server::start(Manner::Echo).await;
    let port = server.port;
    let allow = [format!("db.internal:{port}"), "other.internal:1".to_owned()];
    let tcp = || attempt::tcp(&allow.each_ref().map(String::as_str), &["127.0.0.0/8"]);
    let hosts = [("db.internal", "127.0.0.2"), ("other.internal", "127.0.0.1")];
    let guests = Guests::resolving(TIER, tcp(), Limits::default(), &hosts);
    for name in ["db.internal", "other.internal"] {
        let to = format!("{name}:1");
        let swap = json!({ "act": "swap", "to": to, "then": format!("127.0.0.1:{port}") });
        let outcome = guests.tell(swap).await;
        assert!(
            outcome.message.starts_with("PermissionDenied; refused: connection to "),
            "{}",
            outcome.message
        );
    }
    // A look-up of one attempt is no look-up of the next.
    let hosts = [("db.internal", "127.0.0.1")];
    let guests = Guests::resolving(TIER, tcp(), Limits::default(), &hosts);
    let swap =
        json!({ "act": "swap", "to": format!("db.internal:{port}"), "then": format!("127.0.0.1:{port}") });
    assert_eq!(said(&guests.tell(swap).await), "\"connected\"");
    assert_eq!(server.news.recv().await, Some(News::Opened));
    let again = guests.tell(order("ask", port)).await;
    assert!(again.message.starts_with("PermissionDenied"), "{}", again.message);
}

/// R-I144: there is no listening, and no UDP.
#[tokio::test]
async fn guests_neither_listen_nor_send_datagrams() {
    let guests = Guests::new(TIER, attempt::tcp(&["*:*"], &["127.0.0.0/8"]), Limits::default());
    for (act, to, expected) in [
        ("listen", "127.0.0.1:0", "binding to 127.0.0.1:0: a guest has no address of its own"),
        ("listen", "0.0.0.0:0", "listening: a guest only connects to others"),
        ("listen", "0.0.0.0:8080", "binding to 0.0.0.0:8080: a guest has no address of its own"),
        ("udp", "0.0.0.0:0", "UDP: there are only connections by TCP"),
    ] {
        let outcome = guests.tell(json!({ "act": act, "to": to })).await;
        assert_eq!(outcome.code, 2, "{act} {to}: {}", outcome.message);
        assert!(outcome.message.contains(expected), "{act} {to}: {}", outcome.message);
    }
}
