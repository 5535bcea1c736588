//! A PostgreSQL server of the tests' own, from the distribution's packages; it ends with the process.

use std::{
    env, fs,
    io::Write,
    os::unix::{fs::chown, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    thread,
};

/// Where distributions put the server's programs, below a folder for each version.
const PLACES: [&str; 2] = ["/usr/lib/postgresql", "/usr/local/pgsql"];

/// A server that is there until the process ends, however that happens.
pub(crate) struct Server {
    programs: PathBuf,
    dir: PathBuf,
    user: Option<u32>,
    options: String,
    /// Its parent, which waits for this process.
    _keeper: Child,
}

/// The server of this process. Where none is installed it says which test was left out, which is a failure if
/// `PHASM_TEST_ALL` is set.
pub(crate) fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let found = SERVER.get_or_init(|| programs().map(|programs| Server::start(&programs, &[]))).as_ref();
    if found.is_none() {
        left_out();
    }
    found
}

fn left_out() {
    let here = thread::current();
    let test = here.name().unwrap_or("a test");
    let said =
        format!("{test} was left out on PostgreSQL: no `initdb` (Debian: apt-get install postgresql)\n");
    assert!(env::var_os("PHASM_TEST_ALL").is_none(), "{said}");
    // Not captured, as what passes is.
    std::io::stderr().write_all(said.as_bytes()).unwrap();
}

/// The folder of `initdb` and its like, of the latest version there is.
fn programs() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut versions: Vec<PathBuf> =
        PLACES.iter().flat_map(fs::read_dir).flatten().flatten().map(|entry| entry.path()).collect();
    versions.sort();
    let below = versions.into_iter().rev().map(|version| version.join("bin"));
    // Links to it have only some of the others beside them.
    let linked = env::split_paths(&path)
        .filter_map(|dir| Some(dir.join("initdb").canonicalize().ok()?.parent()?.into()));
    below
        .chain(linked)
        .find(|dir| ["initdb", "pg_ctl", "postgres", "psql"].iter().all(|one| dir.join(one).exists()))
}

impl Server {
    /// Starts one with those settings (`ssl=on`) besides its own.
    pub(crate) fn start(programs: &Path, settings: &[&str]) -> Self {
        let dir = tempfile::Builder::new().prefix("phasm-postgres-").tempdir().unwrap().keep();
        let user = unprivileged();
        if let Some(user) = user {
            chown(&dir, Some(user), None).unwrap();
        }
        let data = dir.join("data");
        let started = command(&programs.join("initdb"), user, &dir)
            .args(["--auth=trust", "--username=phasm", "--no-sync", "--encoding=UTF8", "--locale=C", "-D"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        let mut options = format!(
            "-c listen_addresses= -c fsync=off -c max_connections=400 -c unix_socket_directories={}",
            dir.display()
        );
        for setting in settings {
            options += &format!(" -c {setting}");
        }
        // Ends when the pipe from this process does.
        let keep = "\"$1/pg_ctl\" -D \"$2/data\" -o \"$3\" -l \"$2/log\" -w start >/dev/null && echo started; cat >/dev/null; \
            \"$1/pg_ctl\" -D \"$2/data\" -m immediate -w stop >/dev/null; rm -rf \"$2\"";
        let mut keeper = command(Path::new("/bin/sh"), user, &dir)
            .args(["-c", keep, "keeper"])
            .args([programs, &dir])
            .arg(&options)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(keeper.stdout.take().unwrap()), &mut said)
            .unwrap();
        assert_eq!(said, "started\n", "{}", fs::read_to_string(dir.join("log")).unwrap_or_default());
        Self { programs: programs.into(), dir, user, options, _keeper: keeper }
    }

    /// One more, for tests that end it or need settings of their own.
    pub(crate) fn another(&self, settings: &[&str]) -> Self {
        Self::start(&self.programs, settings)
    }

    /// The URL of a database in which that schema has the tables.
    pub(crate) fn url(&self, schema: &str) -> String {
        let socket = self.dir.to_str().unwrap().replace('/', "%2F");
        format!("postgres://phasm@{socket}/postgres?schema={schema}")
    }

    /// Asks the server with its own client.
    pub(crate) fn psql(&self, sql: &str) -> String {
        let asked = command(&self.programs.join("psql"), None, &self.dir)
            .args([
                "-X",
                "-A",
                "-t",
                "-v",
                "ON_ERROR_STOP=1",
                "-U",
                "phasm",
                "-d",
                "postgres",
                "-c",
                sql,
                "-h",
            ])
            .arg(&self.dir)
            .output()
            .unwrap();
        assert!(asked.status.success(), "{sql}: {}", String::from_utf8_lossy(&asked.stderr));
        String::from_utf8(asked.stdout).unwrap().trim().to_owned()
    }

    /// `stop` without waiting for anybody, or `start`.
    pub(crate) fn control(&self, action: &str) {
        let mut control = command(&self.programs.join("pg_ctl"), self.user, &self.dir);
        control.arg("-D").arg(self.dir.join("data")).arg("-w").arg("-l").arg(self.dir.join("log"));
        control.args(["-m", "immediate", "-o", &self.options]);
        assert!(control.arg(action).stdout(Stdio::null()).status().unwrap().success(), "{action}");
    }
}

/// The server refuses to run for root.
fn unprivileged() -> Option<u32> {
    let id = |arguments: &[&str]| {
        let said = Command::new("id").args(arguments).output().ok().filter(|id| id.status.success())?;
        String::from_utf8(said.stdout).ok()?.trim().parse::<u32>().ok()
    };
    let nobody = 65534;
    (id(&["-u"]) == Some(0)).then(|| id(&["-u", "postgres"]).unwrap_or(nobody))
}

fn command(program: &Path, user: Option<u32>, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir).env("LC_ALL", "C").env_remove("PGPASSWORD").env_remove("PGOPTIONS");
    if let Some(user) = user {
        command.uid(user);
    }
    command
}
