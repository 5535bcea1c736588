//! Requests over TCP that may be left in the middle, and streams of events that are cut.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    thread,
    time::Duration,
};

use serde_json::Value;

/// Longer than any answer takes of a host that is neither dead nor asleep.
const PATIENCE: Duration = Duration::from_secs(4);

/// A request.
pub(crate) struct Request {
    text: String,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn new(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Self {
        let fields: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        Self {
            text: format!(
                "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n{fields}\r\n{body}"
            ),
        }
    }

    pub(crate) fn get(path: &str) -> Self {
        Self::new("GET", path, &[], "")
    }

    /// The whole answer; nothing where none came, or not all of it.
    pub(crate) fn ask(&self, host: SocketAddr) -> Option<Answer> {
        let mut said = Vec::new();
        self.send(host, self.text.len())?.read_to_end(&mut said).ok()?;
        let said = String::from_utf8(said).ok()?;
        let (head, body) = said.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let length =
            head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
        let body = serde_json::from_str(body).ok().filter(|_| length == Some(body.len()))?;
        Some(Answer { status, body })
    }

    /// Sends so much of it, waits for so long and is gone.
    pub(crate) fn leave(&self, host: SocketAddr, part: u64, after: Duration) {
        let length = self.text.len() * usize::try_from(part).unwrap() / 100;
        let sent = self.send(host, length);
        thread::sleep(after);
        drop(sent);
    }

    fn send(&self, host: SocketAddr, length: usize) -> Option<TcpStream> {
        let mut stream = TcpStream::connect_timeout(&host, PATIENCE).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        stream.write_all(self.text.as_bytes().get(..length)?).ok()?;
        Some(stream)
    }
}

/// A stream of events.
pub(crate) struct Stream {
    pub(crate) status: u16,
    reader: BufReader<TcpStream>,
    left: String,
}

/// One event of it.
#[derive(Debug)]
pub(crate) struct StreamEvent {
    pub(crate) id: Option<u64>,
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl Stream {
    /// From the event on behind `last`.
    pub(crate) fn open(host: SocketAddr, run: &str, last: Option<u64>) -> Option<Self> {
        let last = last.map(|last| last.to_string());
        let mut headers = vec![("accept", "text/event-stream")];
        headers.extend(last.as_ref().map(|last| ("last-event-id", last.as_str())));
        let request = Request::new("GET", &format!("/v1/runs/{run}/events"), &headers, "");
        let mut reader = BufReader::new(request.send(host, request.text.len())?);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            reader.read_line(&mut head).ok().filter(|read| *read > 0)?;
        }
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Self { status, reader, left: String::new() })
    }

    /// The next event; nothing once it has ended, was cut, or nothing came for long.
    pub(crate) fn next(&mut self) -> Option<StreamEvent> {
        loop {
            if let Some((block, rest)) = self.left.split_once("\n\n") {
                let told = told(block);
                self.left = rest.to_owned();
                match told {
                    Some(told) => return Some(told),
                    None => continue,
                }
            }
            let mut size = String::new();
            self.reader.read_line(&mut size).ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok().filter(|size| *size > 0)?;
            let mut bytes = vec![0; size + 2];
            self.reader.read_exact(&mut bytes).ok()?;
            bytes.truncate(size);
            self.left += &String::from_utf8(bytes).ok()?;
        }
    }
}

/// Nothing of what is said to keep the connection.
fn told(block: &str) -> Option<StreamEvent> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let (id, name) = (field("id").and_then(|id| id.parse().ok()), field("event")?.to_owned());
    Some(StreamEvent { id, name, data: serde_json::from_str(field("data")?).ok()? })
}
