//! A database that is connected and does not answer.

use std::{
    io::{Read as _, Write as _},
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use super::{
    super::{HasReader as _, Leases as _, Mailbox as _, Postgres},
    server::Server,
    *,
};

/// A way to a server, on which all bytes are swallowed while it is mute.
pub(super) struct Way {
    dir: TempDir,
    is_mute: Arc<AtomicBool>,
}

impl Way {
    fn to(server: &Server) -> Self {
        Self::through(server, |_| {})
    }

    /// A way on which `pass` is called with the number of bytes that a client has sent on a connection, before they are passed on.
    pub(super) fn through(server: &Server, pass: impl Fn(usize) + Clone + Send + 'static) -> Self {
        let url = server.url("x");
        let (_, rest) = url.split_once('@').unwrap();
        let socket = PathBuf::from(rest.split_once('/').unwrap().0.replace("%2F", "/")).join(".s.PGSQL.5432");
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(dir.path().join(".s.PGSQL.5432")).unwrap();
        let is_mute = Arc::<AtomicBool>::default();
        let mute = Arc::clone(&is_mute);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, mute) = (client.unwrap(), Arc::clone(&mute));
                connect(client, &socket, &mute, pass.clone());
            }
        });
        Self { dir, is_mute }
    }

    /// An address whose silence is noticed after a second.
    fn url(&self, schema: &str) -> String {
        self.patient_url(schema, 1)
    }

    pub(super) fn patient_url(&self, schema: &str, seconds: u32) -> String {
        let dir = self.dir.path().to_str().unwrap().replace('/', "%2F");
        format!(
            "postgres://phasm@{dir}/postgres?tcp_user_timeout={seconds}&connect_timeout={seconds}&schema={schema}"
        )
    }

    fn mute(&self, is_mute: bool) {
        self.is_mute.store(is_mute, Ordering::SeqCst);
    }
}

/// Copies both ways until either side ends.
fn connect(client: UnixStream, socket: &Path, mute: &Arc<AtomicBool>, pass: impl Fn(usize) + Send + 'static) {
    let server = UnixStream::connect(socket).unwrap();
    let there = (client.try_clone().unwrap(), server.try_clone().unwrap());
    type Pass = Box<dyn Fn(usize) + Send>;
    let ways: [(_, Pass); 2] = [(there, Box::new(pass)), ((server, client), Box::new(|_| {}))];
    for ((mut from, mut to), pass) in ways {
        let mute = Arc::clone(mute);
        thread::spawn(move || {
            let mut buffer = [0; 1 << 16];
            let (mut was_mute, mut all) = (false, 0);
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                all += count;
                pass(all);
                // A connection that has lost bytes is of no more use.
                was_mute |= mute.load(Ordering::SeqCst);
                if !was_mute && to.write_all(&buffer[..count]).is_err() {
                    break;
                }
            }
            let _gone = to.shutdown(std::net::Shutdown::Both);
        });
    }
}

/// R-H30: every operation ends with the reason, and the store goes on once it is answered.
#[tokio::test]
async fn a_mute_database_is_unavailable_and_comes_back() {
    let Some(server) = server::server() else { return };
    let way = Way::to(server);
    let url = postgres::fresh(server);
    let store = Postgres::open(&way.url(postgres::schema(&url))).unwrap();
    append(&store, "a", 0, b"x").await.unwrap();
    assert!(store.get("a").await.unwrap().is_some());
    way.mute(true);
    let is_unavailable = |error: &StoreError| matches!(error, StoreError::Unavailable { source, .. } if source.to_string().contains("has not responded for "));
    let (written, read, posted, owned) =
        (append(&store, "b", 0, b"x"), store.get("a"), store.post("a", b"?".to_vec()), store.owned(&here()));
    let failed = [
        written.await.unwrap_err(),
        read.await.unwrap_err(),
        posted.await.unwrap_err(),
        owned.await.unwrap_err(),
    ];
    assert!(failed.iter().all(is_unavailable), "{failed:?}");
    way.mute(false);
    while let Err(error) = append(&store, "c", 0, b"x").await {
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    }
    while let Err(error) = store.get("c").await {
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    }
    assert!(store.reader().get("c").await.unwrap().is_some());
}

/// R-H30: neither opening nor closing waits for ever.
#[tokio::test]
async fn a_mute_database_is_neither_opened_nor_waited_for_at_the_end() {
    let Some(server) = server::server() else { return };
    let way = Way::to(server);
    let url = way.url(postgres::schema(&postgres::fresh(server)));
    let store = Postgres::open(&url).unwrap();
    way.mute(true);
    let unwritten: Vec<_> = (0..3).map(|seq| append(&store, "a", seq, b"x")).collect();
    drop(store);
    for answer in unwritten {
        answer.await.unwrap_err();
    }
    let refused = Postgres::open(&url).err().unwrap();
    assert!(matches!(&refused, StoreError::Unavailable { .. }), "{refused:?}");
}
