//! The server, reached by TCP, and sessions that are in the guest's way.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::OnceLock,
};

use crate::server::{self, Server};

/// Settings besides those of a server that no test changes.
const SETTINGS: [&str; 2] = ["listen_addresses=127.0.0.1", "deadlock_timeout=500ms"];

/// A server that listens on a port of this machine.
pub(crate) struct Database {
    server: Server,
    pub(crate) port: u16,
}

/// The server of this process; none where PostgreSQL is not installed.
pub(crate) fn database() -> Option<&'static Database> {
    static DATABASE: OnceLock<Option<Database>> = OnceLock::new();
    // The other one is asked each time, as it says which test was left out.
    let first = server::server()?;
    DATABASE.get_or_init(|| Some(Database::start(first))).as_ref()
}

impl Database {
    fn start(first: &Server) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let named = format!("port={port}");
        let server = first.another(&[SETTINGS[0], SETTINGS[1], &named]);
        let database = Self { server, port };
        let hba = database.psql("show hba_file");
        let lines = [
            "local all all trust",
            "host all by_scram 127.0.0.1/32 scram-sha-256",
            "host all by_md5 127.0.0.1/32 md5",
            "host all in_clear 127.0.0.1/32 password",
            "hostssl all encrypted 127.0.0.1/32 trust",
            "host all encrypted 127.0.0.1/32 reject",
            "host all all 127.0.0.1/32 trust",
        ];
        let rows = lines.map(|line| format!("('{line}')")).join(", ");
        database.psql(&format!("copy (values {rows}) to '{hba}'"));
        database.psql("select pg_reload_conf()");
        database.psql("create role by_scram login password 'geheim'");
        database.psql("set password_encryption = 'md5'; create role by_md5 login password 'geheim'");
        database.psql("create role in_clear login password 'geheim'");
        database.psql("create role encrypted login");
        database
    }

    /// Asks the server with its own client.
    pub(crate) fn psql(&self, sql: &str) -> String {
        let ran = self.client().args(["-c", sql]).output().unwrap();
        assert!(ran.status.success(), "{sql}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap().trim().to_owned()
    }

    fn client(&self) -> Command {
        let url = self.server.url("public");
        let socket = url.split(['@', '/']).find(|part| part.starts_with("%2F")).unwrap().replace("%2F", "/");
        let mut client = Command::new("psql");
        client.args([
            "-X",
            "-A",
            "-t",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            "-U",
            "phasm",
            "-d",
            "postgres",
            "-h",
            &socket,
        ]);
        client.arg("-p").arg(self.port.to_string());
        client
    }

    /// Another connection, on which statements are run one after the other.
    pub(crate) fn session(&self) -> Session {
        let mut client = self.client();
        let mut client =
            client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let (stdin, stdout) = (client.stdin.take().unwrap(), client.stdout.take().unwrap());
        Session { client, stdin, stdout: BufReader::new(stdout) }
    }

    /// Waits until this question is answered so.
    pub(crate) fn until(&self, question: &str, answer: &str) {
        while self.psql(question) != answer {
            std::thread::yield_now();
        }
    }
}

/// A connection of the server's own client.
pub(crate) struct Session {
    client: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Session {
    /// Runs statements without rows, and waits for their end.
    pub(crate) fn run(&mut self, sql: &str) {
        writeln!(self.stdin, "{sql};\n\\echo done").unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert_eq!(line, "done\n", "{sql}");
    }

    /// Waits until another connection waits for the transaction of this one.
    pub(crate) fn until_awaited(&mut self) {
        self.run(
            "do $$ begin while not exists (select from pg_locks where not granted and transactionid::text = \
             pg_current_xact_id()::text) loop perform pg_sleep(0.005); end loop; end $$",
        );
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = writeln!(self.stdin, "\\q");
        let _ = self.client.wait();
    }
}
