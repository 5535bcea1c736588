//! A small HTTP server on this machine that the examples talk to.

use std::{
    collections::BTreeMap,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use serde_json::Value;

/// Request as it was received.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path with its query.
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
}

impl Request {
    /// Method and path.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// Status, content type and body.
pub(crate) type Reply = (u16, &'static str, String);

pub(crate) fn json(value: &Value) -> Reply {
    (200, "application/json", value.to_string())
}

pub(crate) fn text(status: u16, body: &str) -> Reply {
    (status, "text/plain", body.to_owned())
}

#[derive(Default)]
struct Shared {
    requests: Mutex<Vec<Request>>,
    open: AtomicUsize,
    most: AtomicUsize,
    stopped: AtomicBool,
}

/// Server that serves until it is dropped.
pub(crate) struct Peer {
    pub(crate) url: String,
    address: std::net::SocketAddr,
    shared: Arc<Shared>,
}

impl Peer {
    /// Starts a server. The handler gets each request, with the number of those before it that had the same method and path.
    pub(crate) fn start(handler: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (shared, handler) = (Arc::new(Shared::default()), Arc::new(handler));
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if serving.stopped.load(Ordering::SeqCst) {
                    break;
                }
                let (shared, handler) = (Arc::clone(&serving), Arc::clone(&handler));
                thread::spawn(move || {
                    let open = shared.open.fetch_add(1, Ordering::SeqCst) + 1;
                    shared.most.fetch_max(open, Ordering::SeqCst);
                    // A client that leaves early is seen by its run.
                    let _gone = serve(&stream, &shared, &*handler);
                });
            }
        });
        Self { url: format!("http://{address}"), address, shared }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// Methods and paths, in the order of the requests.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.requests().iter().map(Request::line).collect()
    }

    /// The largest number of requests that were open at once.
    pub(crate) fn most_at_once(&self) -> usize {
        self.shared.most.load(Ordering::SeqCst)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
    }
}

fn serve(stream: &TcpStream, shared: &Shared, handler: &dyn Fn(&Request, usize) -> Reply) -> io::Result<()> {
    let request = read(stream)?;
    let before = {
        let mut requests = shared.requests.lock().unwrap();
        let before = requests.iter().filter(|earlier| earlier.line() == request.line()).count();
        requests.push(request.clone());
        before
    };
    let (status, kind, body) = handler(&request, before);
    // A request is over for the limit before its client can know that.
    shared.open.fetch_sub(1, Ordering::SeqCst);
    let mut writer = stream;
    write!(
        writer,
        "HTTP/1.1 {status} Reply\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn read(stream: &TcpStream) -> io::Result<Request> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim_end().is_empty() {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let mut lines = lines.into_iter();
    let first = lines.next().ok_or(io::ErrorKind::UnexpectedEof)?;
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let headers: BTreeMap<_, _> = lines
        .filter_map(|line| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned())))
        .collect();
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Request { method, path, headers, body: serde_json::from_slice(&body).unwrap_or_default() })
}
