//! An endpoint that receives notifications.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
        mpsc::{self, Sender},
    },
    thread,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

pub(super) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// The response to a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    Status(u16),
    With(u16, &'static str),
    /// Nothing, and the connection stays.
    Hang,
    /// Nothing, and it does not.
    Reset,
    Garbage,
}

pub(super) struct Request {
    pub(super) path: String,
    headers: BTreeMap<String, String>,
    pub(super) body: String,
    _stream: TcpStream,
}

impl Request {
    fn read(stream: TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let path = line.split(' ').nth(1)?.to_owned();
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
        reader.read_exact(&mut body).ok()?;
        Some(Self { path, headers, body: String::from_utf8(body).ok()?, _stream: reader.into_inner() })
    }

    pub(super) fn header(&self, name: &str) -> &str {
        &self.headers[name]
    }

    /// Computes the signature by the standard.
    pub(super) fn signature(&self, secret: &str) -> String {
        let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        mac.update(
            format!("{}.{}.{}", self.header("webhook-id"), self.header("webhook-timestamp"), self.body)
                .as_bytes(),
        );
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }

    fn answer(&mut self, answer: Answer) {
        let text = match answer {
            Answer::Status(status) => format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n"),
            Answer::With(status, header) => {
                format!("HTTP/1.1 {status} X\r\n{header}\r\ncontent-length: 0\r\n\r\n")
            }
            Answer::Garbage => "what?\r\n\r\n".to_owned(),
            Answer::Hang => return,
            Answer::Reset => String::new(),
        };
        // The sender may be dead.
        let _gone = self._stream.write_all(text.as_bytes());
        let _gone = self._stream.shutdown(std::net::Shutdown::Both);
    }
}

pub(super) struct Receiver {
    pub(super) url: String,
    requests: Mutex<mpsc::Receiver<Request>>,
    ids: Arc<Mutex<Vec<String>>>,
    takes_all: Arc<AtomicBool>,
}

impl Receiver {
    pub(super) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (sender, requests) = mpsc::channel();
        let (ids, takes_all) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<AtomicBool>::default());
        let (heard, all) = (Arc::clone(&ids), Arc::clone(&takes_all));
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let (sender, heard, all) = (sender.clone(), Arc::clone(&heard), Arc::clone(&all));
                thread::spawn(move || take(stream, &sender, &heard, &all));
            }
        });
        Self { url, requests: Mutex::new(requests), ids, takes_all }
    }

    /// The next request, which is answered so.
    pub(super) fn next(&self, answer: Answer) -> Request {
        let mut request = self.requests.lock().unwrap().recv_timeout(Duration::from_secs(60)).unwrap();
        request.answer(answer);
        request
    }

    /// How many more requests have come.
    pub(super) fn others(&self) -> usize {
        self.requests.lock().unwrap().try_iter().count()
    }

    /// Everything is taken from now on, and known by its id.
    pub(super) fn answer_all(&self) {
        self.takes_all.store(true, SeqCst);
    }

    pub(super) fn ids(&self) -> Vec<String> {
        self.ids.lock().unwrap().clone()
    }
}

fn take(stream: TcpStream, sender: &Sender<Request>, ids: &Mutex<Vec<String>>, all: &AtomicBool) {
    let Some(mut request) = Request::read(stream) else { return };
    if all.load(SeqCst) {
        assert_eq!(request.header("webhook-signature"), request.signature(SECRET));
        ids.lock().unwrap().push(request.header("webhook-id").to_owned());
        request.answer(Answer::Status(204));
    } else {
        // The test may be over.
        let _over = sender.send(request);
    }
}
