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
    limits::{Limit, Limits},
    tenants::Tenants,
    transcript::{NullObserver, Transcript},
};

/// A call that may reach this machine, and the events that its process gets.
struct Stage {
    requests: RelayServer,
    frames_out: Receiver<Vec<u8>>,
    /// Accepts connections and never responds.
    server: TcpListener,
}

impl Stage {
    fn new() -> Self {
        let allow = vec!["POST http://127.0.0.1:*".parse().unwrap()];
        let grant = HttpGrant { allow, networks: Vec::new() };
        let attempt = AttemptContext::for_tests(Limits { resources: 3, ..Limits::default() });
        let net = Arc::new(Net::new(HttpConfig::default(), &Tenants::default()));
        let transcript = Transcript::new(Arc::new(NullObserver), attempt.ceilings.ceiling(Limit::Log), 1000);
        let (frames, frames_out) = channel(64);
        let encode = |event: RelayEvent<'_>| postcard::to_allocvec(&event).map_err(std::io::Error::other);
        let outbox = Outbox::new(frames, encode);
        let requests = RelayServer::new(&net, &grant, &attempt, &Arc::new(transcript), outbox);
        Self { requests, frames_out, server: TcpListener::bind("127.0.0.1:0").unwrap() }
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

    /// Returns why a request failed; no other event is sent but for the end of its body.
    async fn failed(&mut self) -> Option<Code> {
        loop {
            let frame = self.frames_out.recv().await?;
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
async fn a_child_cannot_ask_for_more_than_a_guest() {
    let mut stage = Stage::new();
    assert!(stage.begin(1, "POST", b""));
    assert!(!stage.begin(1, "POST", b""), "a number that has a request");
    assert!(stage.begin(2, "POST", b"") && stage.begin(3, "POST", b""));
    assert!(!stage.begin(4, "POST", b""), "more at once than a guest has resources");
    assert!(!Stage::new().begin(1, "POST", &b"a:\n".repeat(70_000)), "headers without end");
    assert!(!Stage::new().begin(1, "POST", b"no header"));
    assert!(!Stage::new().begin(1, "PO ST", b""));
}

/// R-I27: parts are sent when they are asked for, and are no larger than agreed.
#[tokio::test]
async fn parts_that_were_not_asked_for_are_refused() {
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

/// R-I27, R-I21: grants are checked where requests are made; requests that a guest's host functions refuse are refused there,
/// too.
#[tokio::test]
async fn a_child_that_bypasses_host_functions_gets_no_further() {
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
