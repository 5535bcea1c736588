//! The way to a database: connections are cut, and what they carry is held up.

use std::{
    io::{Read, Write},
    net::Shutdown,
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use tempfile::TempDir;

/// How a server's socket is called in its folder.
const SOCKET: &str = ".s.PGSQL.5432";

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

    /// Ends every connection where it is.
    pub(crate) fn cut(&self) {
        for stream in self.way.open.lock().unwrap().drain(..) {
            let _gone = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Way {
    /// Nobody answers where the server is not there.
    fn lead(self: &Arc<Self>, client: UnixStream, server: &Path) {
        let Ok(server) = UnixStream::connect(server) else { return };
        self.open.lock().unwrap().extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
        self.pump(client.try_clone().unwrap(), server.try_clone().unwrap());
        self.pump(server, client);
    }

    fn pump(self: &Arc<Self>, mut from: UnixStream, mut to: UnixStream) {
        let way = Arc::clone(self);
        thread::spawn(move || {
            let mut piece = [0; 16 << 10];
            while let Ok(length @ 1..) = from.read(&mut piece) {
                thread::sleep(Duration::from_millis(way.delay.load(Relaxed)));
                if to.write_all(piece.get(..length).unwrap_or_default()).is_err() {
                    break;
                }
            }
            let _gone = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
        });
    }
}
