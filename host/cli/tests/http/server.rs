//! An HTTP server that does what a test tells it, one connection after the other or at once.

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinHandle,
};

/// Handling of one request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// A status, headers and a body.
    Says(u16, &'static str, String),
    /// Echoes the request as the body of a 200.
    Echo,
    /// These bytes, and the end of the connection.
    Raw(Vec<u8>),
    /// The end of the connection instead of an answer, by a reset.
    Reset,
    /// Nothing, until the other side has had enough.
    Hang,
    /// The beginning of an answer, and then nothing more.
    Stall,
    /// A body without an end.
    Flood,
}

pub(crate) fn ok(body: &str) -> Reply {
    Reply::Says(200, "content-type: application/json\r\n", body.to_owned())
}

pub(crate) fn status(status: u16) -> Reply {
    Reply::Says(status, "", String::new())
}

pub(crate) struct Server {
    pub(crate) port: u16,
    requests: Arc<Mutex<Vec<String>>>,
    /// Hears of each request that came, and of each connection that the other side closed.
    pub(crate) news: UnboundedReceiver<&'static str>,
    serving: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Server {
    /// Answers the first request with the first reply, and so on; the last is for all that come after.
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::behind(replies, None).await
    }

    pub(crate) async fn behind(
        replies: impl IntoIterator<Item = Reply>,
        tls: Option<tokio_rustls::TlsAcceptor>,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let (port, requests) = (listener.local_addr().unwrap().port(), Arc::<Mutex<Vec<String>>>::default());
        let (sender, news) = unbounded_channel();
        let replies = Arc::new(Mutex::new(replies.into_iter().collect::<Vec<_>>()));
        let seen = Arc::clone(&requests);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let one =
                    One { replies: Arc::clone(&replies), seen: Arc::clone(&seen), news: sender.clone() };
                let tls = tls.clone();
                tokio::spawn(async move {
                    match tls {
                        None => one.serve(stream).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                one.serve(stream).await;
                            }
                        }
                    }
                });
            }
        });
        Self { port, requests, news, serving }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Everything that was asked, head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

struct One {
    replies: Arc<Mutex<Vec<Reply>>>,
    seen: Arc<Mutex<Vec<String>>>,
    news: UnboundedSender<&'static str>,
}

impl One {
    fn next(&self) -> Reply {
        let mut replies = self.replies.lock().unwrap();
        if replies.len() > 1 { replies.remove(0) } else { replies[0].clone() }
    }

    async fn serve(self, mut stream: impl Connection) {
        let Some(asked) = request(&mut stream).await else { return };
        self.seen.lock().unwrap().push(asked.clone());
        let reply = self.next();
        let _ = self.news.send("asked");
        match reply {
            Reply::Says(status, headers, ref body) => answer(&mut stream, status, headers, body).await,
            Reply::Echo => answer(&mut stream, 200, "", &asked).await,
            Reply::Raw(ref bytes) => drop(stream.write_all(bytes).await),
            Reply::Reset => return stream.reset(),
            Reply::Hang => {}
            Reply::Stall => {
                drop(stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc").await);
            }
            Reply::Flood => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
                while stream.write_all(&[b'x'; 65536]).await.is_ok() {}
            }
        }
        if matches!(reply, Reply::Hang | Reply::Stall) {
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest).await;
        }
        let _ = stream.shutdown().await;
        let _ = self.news.send("closed");
    }
}

pub(crate) trait Connection: AsyncRead + AsyncWrite + Send + Unpin {
    fn reset(self);
}

impl Connection for TcpStream {
    fn reset(self) {
        self.set_zero_linger().unwrap();
    }
}

impl Connection for tokio_rustls::server::TlsStream<TcpStream> {
    fn reset(self) {
        self.into_inner().0.reset();
    }
}

async fn answer(stream: &mut impl Connection, status: u16, headers: &str, body: &str) {
    let length = body.len();
    let text = format!("HTTP/1.1 {status} -\r\ncontent-length: {length}\r\n{headers}\r\n{body}");
    let _ = stream.write_all(text.as_bytes()).await;
}

/// Head and body of what is asked, as it came.
async fn request(stream: &mut impl Connection) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .to_ascii_lowercase()
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
            if if chunked { body.ends_with("0\r\n\r\n") } else { body.len() >= length.unwrap_or(0) } {
                return Some(text.into_owned());
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}
