//! A client as lean as can be, so that the cores are the server's: HTTP/1.1 over connections that are kept.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// One connection.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        Self { stream, buffer: Vec::new() }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.ask(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()).await
    }

    /// Sends a request and reads the answer to it.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> Answer {
        self.stream.write_all(request).await.expect("a server that reads");
        self.buffer.clear();
        let head = loop {
            if let Some(at) = find(&self.buffer, b"\r\n\r\n") {
                break at + 4;
            }
            self.read().await;
        };
        let text = String::from_utf8_lossy(self.buffer.get(..head).unwrap_or_default()).into_owned();
        let status = text.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
        let length =
            text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
        let length = length.unwrap_or(0);
        while self.buffer.len() < head + length {
            self.read().await;
        }
        let body = String::from_utf8_lossy(self.buffer.get(head..).unwrap_or_default()).into_owned();
        Answer { status, body }
    }

    /// Begins a stream of events; what it says is to be read.
    pub(crate) async fn stream(mut self, path: &str) -> TcpStream {
        let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n");
        self.stream.write_all(head.as_bytes()).await.expect("a server that reads");
        self.stream
    }

    async fn read(&mut self) {
        let read = self.stream.read_buf(&mut self.buffer).await.expect("a server that answers");
        assert!(read > 0, "the server ended the connection: {}", String::from_utf8_lossy(&self.buffer));
    }
}

impl Answer {
    /// The run that was submitted.
    pub(crate) fn run(&self) -> &str {
        assert_eq!(self.status, 202, "{}", self.body);
        let (_, rest) = self.body.split_once("\"runID\":\"").expect("a run");
        rest.split_once('"').expect("a run").0
    }
}

/// The request that submits a document.
pub(crate) fn submission(document: &str) -> Vec<u8> {
    posted("/v1/runs", document)
}

pub(crate) fn posted(path: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}
