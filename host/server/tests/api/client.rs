//! A client of a few lines: HTTP/1.1 over TCP, one request a connection, or what no client would send.

use std::{net::SocketAddr, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    time::timeout,
};

/// For what would otherwise hang a test for ever.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Where the server is, and who asks.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) key: Option<String>,
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The text at a pointer.
    pub(crate) fn text(&self, pointer: &str) -> String {
        self.json()
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_else(|| panic!("{pointer}: {self:?}"))
            .to_owned()
    }

    /// Asserts the status; a refusal has to be one of RFC 9457.
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        if status >= 400 {
            assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
            assert_eq!(self.json()["status"], status, "{self:?}");
            assert!(self.json()["detail"].is_string(), "{self:?}");
        }
        self
    }
}

impl Client {
    pub(crate) fn with_key(&self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self.clone() }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "").await
    }

    pub(crate) async fn post(&self, path: &str) -> Answer {
        self.send("POST", path, &[], "").await
    }

    pub(crate) async fn post_json(&self, path: &str, body: &str) -> Answer {
        self.send("POST", path, &[("content-type", "application/json")], body).await
    }

    pub(crate) async fn post_json_as(&self, verb: &str, path: &str, body: &str) -> Answer {
        self.send(verb, path, &[("content-type", "application/json")], body).await
    }

    pub(crate) async fn post_yaml(&self, path: &str, body: &str) -> Answer {
        self.send("POST", path, &[("content-type", "application/yaml")], body).await
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        self.send_bytes(method, path, headers, body.as_bytes()).await
    }

    pub(crate) async fn send_bytes(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut stream = self.begin(method, path, headers, body).await;
        let mut bytes = Vec::new();
        // A client that is cut off has read everything up to then.
        let _cut = timeout(LONG, stream.read_to_end(&mut bytes)).await.expect("the server answers");
        answer(&bytes)
    }

    fn head(&self, method: &str, path: &str, headers: &[(&str, &str)], length: usize) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        let has = |name: &str| headers.iter().any(|(key, _)| *key == name);
        if !has("host") {
            head += &format!("host: {}\r\n", self.address);
        }
        if !has("connection") {
            head += "connection: close\r\n";
        }
        if let Some(key) = self.key.as_ref().filter(|_| !has("authorization")) {
            head += &format!("authorization: Bearer {key}\r\n");
        }
        if (length > 0 || method != "GET") && !has("content-length") && !has("transfer-encoding") {
            head += &format!("content-length: {length}\r\n");
        }
        let given: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        head + given.as_str() + "\r\n"
    }

    /// Sends a request of which the answer is not read yet.
    pub(crate) async fn begin(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> TcpStream {
        let body = body.as_ref();
        let head = self.head(method, path, headers, body.len());
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // A server that refuses early may have closed.
        let _refused = stream.write_all(&[head.as_bytes(), body].concat()).await;
        stream
    }

    /// Follows a stream of events.
    pub(crate) async fn stream(&self, path: &str, last: Option<u64>) -> EventSource {
        let last = last.map(|id| id.to_string());
        let mut headers = vec![("accept", "text/event-stream")];
        if let Some(last) = &last {
            headers.push(("last-event-id", last.as_str()));
        }
        let mut reader = BufReader::new(self.begin("GET", path, &headers, "").await);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(timeout(LONG, reader.read_line(&mut head)).await.unwrap().unwrap() > 0, "{head}");
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        EventSource { reader, status, left: String::new() }
    }
}

pub(crate) fn answer(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let mut lines = head.split("\r\n");
    let status =
        lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|s| s.parse().ok()).unwrap_or(0);
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if chunked { dechunked(body) } else { body.to_owned() };
    Answer { status, headers, body }
}

fn dechunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        whole += &rest[..size.min(rest.len())];
        body = rest.get(size + 2..).unwrap_or_default();
    }
    whole
}

/// A stream of events as it comes.
pub(crate) struct EventSource {
    reader: BufReader<TcpStream>,
    pub(crate) status: u16,
    left: String,
}

/// One event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) id: Option<u64>,
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl EventSource {
    /// The next event; nothing once the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<Told> {
        loop {
            if let Some(at) = self.left.find("\n\n") {
                let block: String = self.left.drain(..at + 2).collect();
                if let Some(told) = told(&block) {
                    return Some(told);
                }
                continue;
            }
            let chunk = self.chunk().await?;
            self.left += &chunk;
        }
    }

    /// The next event of that name.
    pub(crate) async fn until(&mut self, name: &str) -> Told {
        loop {
            let told = self.next().await.unwrap_or_else(|| panic!("the stream ended before {name}"));
            if told.name == name {
                return told;
            }
        }
    }

    async fn chunk(&mut self) -> Option<String> {
        let mut size = String::new();
        timeout(LONG, self.reader.read_line(&mut size)).await.unwrap().ok()?;
        let size = usize::from_str_radix(size.trim(), 16).ok().filter(|size| *size > 0)?;
        let mut bytes = vec![0; size + 2];
        timeout(LONG, self.reader.read_exact(&mut bytes)).await.unwrap().ok()?;
        bytes.truncate(size);
        Some(String::from_utf8(bytes).unwrap())
    }
}

fn told(block: &str) -> Option<Told> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let id = field("id").map(|id| id.parse().unwrap());
    Some(Told { id, name: field("event")?.to_owned(), data: serde_json::from_str(field("data")?).unwrap() })
}
