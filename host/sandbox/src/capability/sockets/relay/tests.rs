//! Messages that a compromised child may send.

use std::{
    io::Read as _,
    net::{SocketAddr, TcpListener},
    sync::Arc,
};

use tokio::sync::mpsc::{Receiver, channel};

use super::{
    messages::{Id, MAX_NAME_BYTES, MAX_SENT_BYTES, StartResult, TcpEvent, TcpRequest},
    server::TcpRelayServer,
};
use crate::{
    attempt_context::AttemptContext,
    capability::{
        http::{HttpConfig, Net},
        sockets::{TcpGrant, failure::Failure},
    },
    limits::{Limit, Limits},
    tenants::Tenants,
    transcript::{NullObserver, Transcript},
};

/// A call that may reach this machine, and the events that its process gets.
struct Stage {
    connections: TcpRelayServer,
    frames_out: Receiver<Vec<u8>>,
    /// Accepts connections and never responds.
    server: TcpListener,
}

impl Stage {
    fn new() -> Self {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let allow = vec![server.local_addr().unwrap().to_string().parse().unwrap()];
        let grant = TcpGrant { allow, networks: Vec::new() };
        let attempt = AttemptContext::for_tests(Limits { resources: 3, ..Limits::default() });
        let net = Arc::new(Net::new(HttpConfig::default(), &Tenants::default()));
        let transcript = Transcript::new(Arc::new(NullObserver), attempt.ceilings.ceiling(Limit::Log), 1000);
        let (frames, frames_out) = channel(64);
        let encode = |event: TcpEvent<'_>| postcard::to_allocvec(&event).map_err(std::io::Error::other);
        let connections = TcpRelayServer::new(&net, &grant, &attempt, &Arc::new(transcript), frames, encode);
        Self { connections, frames_out, server }
    }

    fn receive(&mut self, request: TcpRequest<'_>) -> bool {
        self.connections.receive(request).is_ok()
    }

    fn connect(&mut self, id: Id) -> bool {
        let address = self.server.local_addr().unwrap();
        self.receive(TcpRequest::Connect(id, address))
    }

    fn write(&mut self, id: Id, size: usize) -> bool {
        self.receive(TcpRequest::Write(id, vec![7; size].into()))
    }

    /// Returns the result of the next look-up or connection.
    async fn started(&mut self) -> Result<StartResult, Failure> {
        let frame = self.frames_out.recv().await.unwrap();
        let Ok(TcpEvent::Started(_, started)) = postcard::from_bytes(&frame) else {
            unreachable!("no other event is asked for")
        };
        started
    }
}

/// R-I147: a child that asks for what no guest can ask for is cut off.
#[tokio::test]
async fn a_child_cannot_connect_more_than_a_guest() {
    let mut stage = Stage::new();
    assert!(stage.connect(1));
    assert!(!stage.connect(1), "a number that has a connection");
    assert!(stage.connect(2) && stage.connect(3));
    assert!(!stage.connect(4), "more at once than a guest has resources");
    let name = "a".repeat(MAX_NAME_BYTES + 1);
    assert!(!Stage::new().receive(TcpRequest::LookUp(1, name.into())), "a name without end");
}

/// R-I147: pieces are sent one at a time, and are no larger than agreed.
#[tokio::test]
async fn pieces_that_were_not_asked_for_are_refused() {
    let mut stage = Stage::new();
    assert!(stage.connect(1));
    assert!(stage.write(1, MAX_SENT_BYTES), "one is kept until it is written");
    assert!(!stage.write(1, 1), "two are not");
    let mut stage = Stage::new();
    assert!(stage.connect(1) && !stage.write(1, MAX_SENT_BYTES + 1));
    assert!(stage.receive(TcpRequest::Read(1)) && !stage.receive(TcpRequest::Read(1)));
    // Well-formed messages about finished or unknown connections are allowed.
    assert!(stage.receive(TcpRequest::Close(1)) && stage.receive(TcpRequest::Read(1)));
    assert!(stage.write(7, 1) && !stage.write(7, MAX_SENT_BYTES + 1));
}

/// R-I147, R-I142: grants are checked where connections are made, and closing closes.
#[tokio::test]
async fn a_child_that_bypasses_host_functions_connects_no_further() {
    let elsewhere: [SocketAddr; 3] = [
        "127.0.0.1:1".parse().unwrap(),
        "10.0.0.1:5432".parse().unwrap(),
        "[::ffff:169.254.169.254]:80".parse().unwrap(),
    ];
    for address in elsewhere {
        let mut stage = Stage::new();
        assert!(stage.receive(TcpRequest::Connect(1, address)));
        assert_eq!(stage.started().await, Err(Failure::AccessDenied), "{address}");
    }
    let mut stage = Stage::new();
    assert!(stage.receive(TcpRequest::LookUp(1, "evil.example".into())));
    assert_eq!(stage.started().await, Err(Failure::AccessDenied));
    assert!(stage.connect(2));
    assert!(matches!(stage.started().await, Ok(StartResult::Connected(Some(_)))));
    let (mut other_side, _) = stage.server.accept().unwrap();
    assert!(stage.write(2, 5));
    let frame = stage.frames_out.recv().await.unwrap();
    assert!(matches!(postcard::from_bytes(&frame), Ok(TcpEvent::Written(2, Ok(())))));
    assert!(stage.receive(TcpRequest::Close(2)));
    drop(stage);
    let read = tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        other_side.read_to_end(&mut bytes).map(|_| bytes)
    });
    assert_eq!(read.await.unwrap().unwrap(), [7; 5]);
}
