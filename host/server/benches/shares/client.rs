//! A client that blocks, with a connection for each request.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
};

/// One key.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) key: String,
}

/// A request, but for its key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    /// Method and path.
    pub(crate) line: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    /// Bytes of the body that are announced and never sent.
    pub(crate) missing: usize,
}

impl Client {
    /// Sends a request and reads the whole response. Returns its status, unless the connection broke off.
    pub(crate) fn send(&self, request: &Request) -> Option<u16> {
        let mut stream = self.begin(request)?;
        let mut said = Vec::new();
        stream.read_to_end(&mut said).ok()?;
        std::str::from_utf8(said.get(9..12)?).ok()?.parse().ok()
    }

    /// Sends a request, of which the response is not read.
    pub(crate) fn begin(&self, request: &Request) -> Option<TcpStream> {
        let mut stream = TcpStream::connect(self.address).ok()?;
        stream.set_nodelay(true).ok()?;
        let length = request.body.len() + request.missing;
        let mut head = format!("{} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n", request.line);
        let is_signed_in = request.headers.iter().any(|(name, _)| *name == "cookie");
        if !is_signed_in {
            head += &format!("authorization: Bearer {}\r\n", self.key);
        }
        for (name, value) in &request.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("content-length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).ok()?;
        // A server that refuses early may have closed.
        let _refused = stream.write_all(&request.body);
        Some(stream)
    }

    /// Signs in, and returns the cookie of the session.
    pub(crate) fn sign_in(&self) -> String {
        let mut stream = self.begin(&login(&self.key)).expect("a connection");
        let mut said = String::new();
        stream.read_to_string(&mut said).expect("a response");
        let cookie = said.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
        cookie.split(';').next().unwrap_or_default().to_owned()
    }
}

/// The request that signs in with a key.
pub(crate) fn login(key: &str) -> Request {
    Request {
        line: "POST /login".into(),
        headers: vec![("content-type", "application/x-www-form-urlencoded".into())],
        body: format!("key={key}").into(),
        missing: 0,
    }
}
