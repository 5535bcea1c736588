//! Messages that a compromised child may send.

use std::{net::TcpListener, sync::Arc};

use tokio::sync::mpsc::{Receiver, channel};

use super::{
    Outbox, RelayServer,
    messages::{Code, Fields, Head, Id, MAX_PIECE_BYTES, Part, RelayEvent, RelayRequest},
};
use crate::{
    attempt_context::AttemptContext,
    capability::http::{HttpConfig, HttpGrant, net::Net},
    executor::{Level, Observer},
    limits::{Limit, Limits},
    tenants::Tenants,
    transcript::Transcript,
};

struct NullObserver;

impl Observer for NullObserver {
    fn log(&self, _: Level, _: &str) {}
    fn progress(&self, _: Option<f64>, _: &str) {}
    fn activity(&self) {}
}

/// A call with grants of this machine's own address, and what its process is told.
struct Stage {
    requests: RelayServer,
    told: Receiver<Vec<u8>>,
    /// Takes connections and never says anything.
    server: TcpListener,
}

impl Stage {
    fn new() -> Self {
        let allow = vec!["POST http://127.0.0.1:*".parse().unwrap()];
        let grant = HttpGrant { allow, networks: Vec::new() };
        let attempt = AttemptContext::for_tests(Limits { resources: 3, ..Limits::default() });
        let net = Arc::new(Net::new(HttpConfig::default(), &Tenants::default()));
        let transcript = Transcript::new(Arc::new(NullObserver), attempt.ceilings.ceiling(Limit::Log), 1000);
        let (frames, told) = channel(64);
        let encode = |event: RelayEvent<'_>| postcard::to_allocvec(&event).map_err(std::io::Error::other);
        let outbox = Outbox::new(frames, encode);
        let requests = RelayServer::new(&net, &grant, &attempt, &Arc::new(transcript), outbox);
        Self { requests, told, server: TcpListener::bind("127.0.0.1:0").unwrap() }
    }

    fn begin(&mut self, id: Id, method: &str, fields: &[u8]) -> bool {
        let uri = format!("http://{}/", self.server.local_addr().unwrap());
        let fields = Fields(fields.into());
        let head =
            Head { method: method.into(), uri: uri.into(), fields, timeouts: [None; 3], has_body: true };
        self.requests.receive(RelayRequest::Begin(id, head)).is_ok()
    }

    fn body(&mut self, id: Id, size: usize) -> bool {
        self.requests.receive(RelayRequest::Body(id, Part::Data(vec![0; size].into()))).is_ok()
    }

    /// Why a request came to nothing, which is all that is told but for its body's end.
    async fn failed(&mut self) -> Option<Code> {
        loop {
            let frame = self.told.recv().await?;
            match postcard::from_bytes(&frame).unwrap() {
                RelayEvent::Failed(_, code) => return Some(code),
                RelayEvent::Enough(_) => {}
                RelayEvent::More(_) | RelayEvent::Head(..) | RelayEvent::Body(..) => return None,
            }
        }
    }
}

/// R-I27: a child that asks for what no guest can ask for is cut off.
#[tokio::test]
async fn nobody_asks_for_more_than_a_guest_can() {
    let mut stage = Stage::new();
    assert!(stage.begin(1, "POST", b""));
    assert!(!stage.begin(1, "POST", b""), "a number that has a request");
    assert!(stage.begin(2, "POST", b"") && stage.begin(3, "POST", b""));
    assert!(!stage.begin(4, "POST", b""), "more at once than a guest has resources");
    assert!(!Stage::new().begin(1, "POST", &b"a:\n".repeat(70_000)), "headers without end");
    assert!(!Stage::new().begin(1, "POST", b"no header"));
    assert!(!Stage::new().begin(1, "PO ST", b""));
}

/// R-I27: parts come when they are wanted, and are no larger than agreed.
#[tokio::test]
async fn nobody_sends_what_is_not_wanted() {
    let mut stage = Stage::new();
    assert!(stage.begin(1, "POST", b""));
    assert!(stage.body(1, MAX_PIECE_BYTES), "one is kept until it is wanted");
    assert!(!stage.body(1, 1), "two are not");
    let mut stage = Stage::new();
    assert!(stage.begin(1, "POST", b"") && !stage.body(1, MAX_PIECE_BYTES + 1));
    let mut more = || stage.requests.receive(RelayRequest::More(1)).is_ok();
    assert!(more() && !more());
    // Well-formed messages about finished or unknown requests are allowed.
    assert!(
        stage.requests.receive(RelayRequest::GiveUp(1)).is_ok()
            && stage.requests.receive(RelayRequest::More(1)).is_ok()
    );
    assert!(stage.body(7, 1) && !stage.body(7, MAX_PIECE_BYTES + 1));
}

/// R-I27, R-I21: grants are looked at where requests are made, and what a guest's host functions refuse is refused there, too.
#[tokio::test]
async fn who_asks_past_the_guests_host_functions_gets_no_further() {
    let rows: [(&str, &[u8]); 5] = [
        ("GET", b""),
        ("CONNECT", b""),
        ("POST", b"transfer-encoding:chunked\n"),
        ("POST", b"content-length:1\ncontent-length:2\n"),
        ("POST", b"content-length:+1\n"),
    ];
    for (method, fields) in rows {
        let mut stage = Stage::new();
        assert!(stage.begin(1, method, fields), "{method}");
        assert_eq!(stage.failed().await, Some(Code::HttpRequestDenied), "{method} {}", fields.escape_ascii());
    }
    // A granted request is made: its body is asked for.
    let mut stage = Stage::new();
    assert!(stage.begin(1, "POST", b"content-length:1\n"));
    assert_eq!(stage.failed().await, None);
}
