//! A server that is hostile itself, for guests that send requests: it says the same to everybody.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

use serde::Deserialize;

/// Text of the response, and the next step.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Says {
    says: String,
    #[serde(default)]
    then: Then,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Then {
    /// The connection ends.
    #[default]
    Close,
    /// Nothing, until the other side has had enough.
    Hang,
    /// The same again, for ever.
    Again,
}

pub(crate) struct Server {
    pub(crate) port: u16,
    asked: Arc<AtomicUsize>,
}

impl Server {
    /// Listens until the process ends.
    pub(crate) fn start(says: &Says) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::<AtomicUsize>::default();
        let (says, count) = (says.clone(), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (says, count) = (says.clone(), Arc::clone(&count));
                thread::spawn(move || answer(&says, &count, stream.unwrap()));
            }
        });
        Self { port, asked }
    }

    /// How many requests came.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Relaxed)
    }
}

/// A client that has gone away by then is ignored.
fn answer(says: &Says, asked: &AtomicUsize, mut stream: TcpStream) {
    let mut head = Vec::new();
    let mut piece = [0; 4096];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(count) if count > 0 => head.extend_from_slice(&piece[..count]),
            Ok(_) | Err(_) => return,
        }
    }
    asked.fetch_add(1, Relaxed);
    let _gone = stream.write_all(says.says.as_bytes());
    match says.then {
        Then::Close => {}
        Then::Hang => while matches!(stream.read(&mut piece), Ok(count) if count > 0) {},
        Then::Again => {
            let much = says.says.repeat(1000);
            while stream.write_all(much.as_bytes()).is_ok() {}
        }
    }
}
