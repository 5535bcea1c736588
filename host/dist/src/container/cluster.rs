//! Hosts of the compose file of a cluster, with a PostgreSQL server, in a network of their own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use super::{
    ask, compose,
    containerfile::Image,
    hello,
    keeper::{Keeper, Network},
    pod::{Pod, Running},
    text, wait_until_healthy,
};
use crate::{DistResult, folder, run};

/// Runs the hosts, a workflow on one of them, and another after that host was killed; `dir` has the root file system.
pub(super) fn test(image: &Image, dir: &Path) -> DistResult {
    let composed = compose::read(compose::CLUSTER)?;
    let mut network = Network::start()?;
    let database = Database::start(&composed, &dir.join("database"))?;
    // The engine's names: those of the services.
    let names = dir.join("hosts");
    let address = network.join(&database.keeper)?;
    folder::write(&names, format!("127.0.0.1 localhost\n{address} database\n").as_bytes(), 0o644)?;
    let mut pods = Vec::new();
    for name in compose::HOSTS {
        let (pod, arguments) = compose::pod(&composed, name, image, dir, Some(&names))?;
        network.join(pod.keeper())?;
        pods.push((pod, arguments, dir.join(format!("{name}.log"))));
    }
    let (first, ..) = pods.first().ok_or("no hosts")?;
    let key = first.run(&["key", "add", "me", "--role", "admin"].map(ToOwned::to_owned), None)?;
    let mut running = Vec::new();
    for (pod, arguments, log) in &pods {
        running.push(pod.spawn(arguments, log)?);
    }
    let tried = try_hosts(image, &pods, &mut running, key.trim());
    let mut ended = Ok(());
    // The first was killed, if the test came so far.
    for host in running.iter_mut().skip(usize::from(tried.is_ok())) {
        ended = ended.and(host.end(image.stop_signal));
    }
    let logs = pods.iter().map(|(_, _, log)| fs::read_to_string(log).unwrap_or_default()).collect::<String>();
    tried.and(ended).map_err(|error| format!("{error}\n{logs}").into())
}

/// Pod of a host, its arguments, and the file of its log.
type HostPod = (Pod, Vec<String>, PathBuf);

fn try_hosts(image: &Image, pods: &[HostPod], running: &mut [Running], key: &str) -> DistResult {
    for (pod, ..) in pods {
        wait_until_healthy(image, pod)?;
    }
    let [(first, ..), (second, ..), (third, ..)] = pods else { return Err("expected three hosts".into()) };
    let run_of =
        |said: &str| said.lines().find_map(|line| line.split(['(', ')']).nth(1)).map(ToOwned::to_owned);
    let run = run_of(&hello(first, key)?).ok_or("expected the id of a run in parentheses")?;
    ask(third, &["get", &run], key, "Succeeded")?;
    running.first_mut().ok_or("no hosts")?.kill()?;
    let run = run_of(&hello(second, key)?).ok_or("expected the id of a run in parentheses")?;
    ask(third, &["get", &run], key, "Succeeded")
}

/// PostgreSQL server with the user, the password and the database of the compose file.
struct Database {
    keeper: Keeper,
    data: PathBuf,
    programs: PathBuf,
}

impl Database {
    fn start(composed: &Value, dir: &Path) -> DistResult<Self> {
        let setting = |name: &str| text(composed, &format!("/services/database/environment/{name}"));
        let (user, password) = (setting("POSTGRES_USER")?, setting("POSTGRES_PASSWORD")?);
        let secret = dir.join("password");
        folder::write(&secret, password.as_bytes(), 0o644)?;
        run(Command::new("chown").arg("postgres").arg(dir))?;
        let keeper = Keeper::start(&["--net"], "")?;
        let database = Self { keeper, data: dir.join("data"), programs: programs()? };
        let init = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"];
        let init = database.program("initdb", &init);
        run({ init }
            .arg(format!("--username={user}"))
            .arg("--pwfile")
            .arg(&secret)
            .arg("-D")
            .arg(&database.data))?;
        let rules = database.data.join("pg_hba.conf");
        fs::write(&rules, fs::read_to_string(&rules)? + "host all all all scram-sha-256\n")?;
        let options =
            format!("-c listen_addresses=* -c fsync=off -c unix_socket_directories={}", dir.display());
        let mut start = database.program("pg_ctl", &["--wait", "start", "-o", &options]);
        run(start.arg("-l").arg(dir.join("log")).arg("-D").arg(&database.data))?;
        let mut create = database.program("createdb", &["--username", user, setting("POSTGRES_DB")?]);
        run(create.env("PGHOST", dir).env("PGPASSWORD", password))?;
        Ok(database)
    }

    /// Program of the server, which does not run as root.
    fn program(&self, name: &str, arguments: &[&str]) -> Command {
        let mut command = self.keeper.in_network();
        command.args(["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]);
        command.arg(self.programs.join(name)).args(arguments).current_dir("/");
        command
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let mut stop = self.program("pg_ctl", &["--mode=immediate", "--wait", "stop"]);
        let _ = stop.arg("-D").arg(&self.data).output();
    }
}

/// Folder with the programs of the latest PostgreSQL that is installed.
fn programs() -> DistResult<PathBuf> {
    let mut found = Vec::new();
    for version in fs::read_dir("/usr/lib/postgresql").map_err(|error| format!("PostgreSQL: {error}"))? {
        let programs = version?.path().join("bin");
        found.extend(programs.join("initdb").exists().then_some(programs));
    }
    found.sort();
    found.pop().ok_or_else(|| "expected the server of PostgreSQL in /usr/lib/postgresql".into())
}
