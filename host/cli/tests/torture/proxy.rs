//! The way to a database: connections are cut, what they carry is held up, and answers are lost.

use std::{
    io::{Read, Write},
    net::Shutdown,
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use tempfile::TempDir;

/// How a server's socket is called in its folder.
const SOCKET: &str = ".s.PGSQL.5432";

/// How the statement begins by which hosts exchange attempts.
const EXCHANGE: &[u8] = b"SELECT * FROM share_work_";

/// How an answer ends after which nothing is open.
const READY: &[u8] = b"Z\0\0\0\x05I";

/// Listens in a folder of its own, in place of a server.
pub(crate) struct Proxy {
    dir: TempDir,
    way: Arc<Way>,
}

#[derive(Default)]
struct Way {
    /// By how many milliseconds each piece is held up.
    delay: AtomicU64,
    open: Mutex<Vec<UnixStream>>,
    /// Number of exchanges without a response.
    to_lose: AtomicU32,
    lost: AtomicU32,
}

/// Requests of one connection so far.
#[derive(Default)]
struct ConnectionState {
    /// Statement that begins an exchange, once it was prepared.
    exchange: Option<Vec<u8>>,
}

impl ConnectionState {
    /// Whether a piece of what is asked begins an exchange, which is known by the name under which it was prepared.
    fn exchanges(&mut self, piece: &[u8]) -> bool {
        if let Some(at) = find(piece, EXCHANGE) {
            let before = piece.get(..at.saturating_sub(1)).unwrap_or_default();
            let name = before.iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
            let name = before.get(name..).unwrap_or_default();
            // A portal without a name is bound to it.
            self.exchange = Some([b"\0", name, b"\0"].concat());
        }
        let Some(exchange) = &self.exchange else { return false };
        let is_bind = |at: usize| at.checked_sub(5).and_then(|at| piece.get(at)) == Some(&b'B');
        find(piece, exchange).is_some_and(is_bind)
    }
}

fn find(piece: &[u8], what: &[u8]) -> Option<usize> {
    piece.windows(what.len()).position(|window| window == what)
}

impl Proxy {
    /// In place of the server whose socket lies in that folder.
    pub(crate) fn to(server: &Path) -> Self {
        let dir = tempfile::Builder::new().prefix("phasm-way-").tempdir().unwrap();
        let listener = UnixListener::bind(dir.path().join(SOCKET)).unwrap();
        let (way, server) = (Arc::new(Way::default()), server.join(SOCKET));
        let ours = Arc::clone(&way);
        thread::spawn(move || listener.incoming().flatten().for_each(|client| ours.lead(client, &server)));
        Self { dir, way }
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.dir.path().into()
    }

    /// From now on each piece takes so long.
    pub(crate) fn delay(&self, length: Duration) {
        self.way.delay.store(u64::try_from(length.as_millis()).unwrap(), Relaxed);
    }

    /// The next exchanges of attempts, so many, are made and get no answer: the connection ends instead.
    pub(crate) fn lose(&self, exchanges: u32) {
        self.way.to_lose.fetch_add(exchanges, Relaxed);
    }

    /// How many got none.
    pub(crate) fn lost(&self) -> u32 {
        self.way.lost.load(Relaxed)
    }

    /// Ends every connection where it is.
    pub(crate) fn cut(&self) {
        for stream in self.way.open.lock().unwrap().drain(..) {
            let _gone = stream.shutdown(Shutdown::Both);
        }
    }
}

/// Handling of a piece.
enum Passes {
    On,
    Lost,
    /// The piece is lost, and the connection with it.
    Ends,
}

impl Way {
    /// There is no response while the server is away.
    fn lead(self: &Arc<Self>, client: UnixStream, server: &Path) {
        let Ok(server) = UnixStream::connect(server) else { return };
        self.open.lock().unwrap().extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
        let unanswered = Arc::new(AtomicBool::new(false));
        let (way, loses, mut asked) = (Arc::clone(self), Arc::clone(&unanswered), ConnectionState::default());
        self.pump(client.try_clone().unwrap(), server.try_clone().unwrap(), move |piece| {
            if asked.exchanges(piece) && way.loses_one() {
                loses.store(true, Relaxed);
            }
            Passes::On
        });
        let way = Arc::clone(self);
        self.pump(server, client, move |piece| match unanswered.load(Relaxed) {
            false => Passes::On,
            // The request has been carried out now.
            true if piece.ends_with(READY) => {
                way.lost.fetch_add(1, Relaxed);
                Passes::Ends
            }
            true => Passes::Lost,
        });
    }

    fn loses_one(&self) -> bool {
        self.to_lose.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    fn pump(
        self: &Arc<Self>,
        mut from: UnixStream,
        mut to: UnixStream,
        mut passes: impl FnMut(&[u8]) -> Passes + Send + 'static,
    ) {
        let way = Arc::clone(self);
        thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            while let Ok(length @ 1..) = from.read(&mut buffer) {
                let piece = buffer.get(..length).unwrap_or_default();
                thread::sleep(Duration::from_millis(way.delay.load(Relaxed)));
                match passes(piece) {
                    Passes::On if to.write_all(piece).is_ok() => {}
                    Passes::Lost => {}
                    Passes::On | Passes::Ends => break,
                }
            }
            let _gone = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
        });
    }
}
