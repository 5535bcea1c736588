//! Test of all that runs the command in containers: the image, the compose files and the Kubernetes manifests.

mod cluster;
mod compose;
mod containerfile;
mod keeper;
mod kubernetes;
mod pod;

use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use serde_json::Value;

use self::{containerfile::Image, pod::Pod};
use crate::{DistResult, files, folder, image, install, root, run};

/// How long a server may take to be ready, and to end.
const LIMIT: Duration = Duration::from_secs(60);
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// Checks the manifests with the tools of their makers, and runs the image as they say. Needs root.
pub(crate) fn test_all(binary: &Path) -> DistResult {
    let home = env::temp_dir().join(format!("phasm-dist-{}-container", std::process::id()));
    folder::make_empty(&home)?;
    let done = test_in(binary, &home);
    fs::remove_dir_all(&home)?;
    done
}

fn test_in(binary: &Path, home: &Path) -> DistResult {
    let laid = home.join("image");
    image::lay(binary, &laid)?;
    let image = Image::read()?;
    let command = laid.join("root/usr/bin/phasm");
    accepts(&command, &image.command)?;
    accepts(&command, image.health.get(1..).unwrap_or_default())?;
    let composed = compose::check(&command, &image)?;
    let manifests = kubernetes::check(&command, home)?;
    writeln!(io::stdout(), "compose files and Kubernetes manifests: valid")?;
    let dir = home.join("cluster");
    image.assemble(&laid, &dir.join("root"))?;
    let start = Instant::now();
    cluster::test(&image, &dir).map_err(|error| format!("{}: {error}", compose::CLUSTER))?;
    writeln!(
        io::stdout(),
        "cluster: a result, and another after a host was killed in {:.1?}",
        start.elapsed()
    )?;
    for (name, plan) in [("compose", composed), ("kubernetes", manifests)] {
        let dir = home.join(name);
        image.assemble(&laid, &dir.join("root"))?;
        let start = Instant::now();
        serve(&image, &plan(&image, &command, &dir)?, &dir).map_err(|error| format!("{name}: {error}"))?;
        writeln!(
            io::stdout(),
            "{name}: served, a result, and the same after a restart in {:.1?}",
            start.elapsed()
        )?;
    }
    Ok(())
}

/// Makes a pod of the image in a folder that has its root file system; `command` runs outside.
type Plan = Box<dyn Fn(&Image, &Path, &Path) -> DistResult<ServerPod>>;

/// Pod with a server.
struct ServerPod {
    pod: Pod,
    /// Arguments of the command.
    arguments: Vec<String>,
    /// Key of the server's administrator, if it is not made in the pod.
    key: Option<String>,
    /// Paths that respond with success while the server is ready.
    probes: Vec<String>,
}

/// Checks that the command knows these arguments.
fn accepts(command: &Path, arguments: &[String]) -> DistResult {
    let said = run(Command::new(command).args(arguments).arg("--help"))?;
    let name = arguments.first().map_or("", String::as_str);
    if said.contains(&format!("Usage: phasm {name} ")) {
        Ok(())
    } else {
        Err(format!("{arguments:?}: expected arguments of phasm {name}").into())
    }
}

/// Serves in a pod, runs the hello workflow there, ends the server as the image says, and finds the run after another start.
fn serve(image: &Image, served: &ServerPod, dir: &Path) -> DistResult {
    let ServerPod { pod, arguments, key, probes } = served;
    let key = match key {
        Some(key) => key.clone(),
        None => {
            let refused = pod.output(arguments, None)?;
            if refused.status.success() || !String::from_utf8_lossy(&refused.stderr).contains("phasm key add")
            {
                return Err(format!("a server without a key: expected a refusal, found {refused:?}").into());
            }
            let add = ["key", "add", "me", "--role", "admin"].map(ToOwned::to_owned);
            pod.run(&add, None)?.trim().to_owned()
        }
    };
    for round in 0..2 {
        let mut host = pod.spawn(arguments, &dir.join("log"))?;
        let tried = (|| {
            wait_until_healthy(image, pod)?;
            for path in probes {
                pod.get(path)?;
            }
            if round == 0 {
                hello(pod, &key)?;
            }
            ask(pod, &["get", "@last"], &key, "Succeeded")
        })();
        let ended = host.end(image.stop_signal);
        let log = fs::read_to_string(dir.join("log")).unwrap_or_default();
        tried.and(ended).map_err(|error: Box<dyn std::error::Error>| format!("{error}\n{log}"))?;
        let health = pod.output(image.health.get(1..).unwrap_or_default(), None)?;
        if health.status.code() != Some(1) {
            return Err(format!("health of a server that ended: expected status 1, found {health:?}").into());
        }
    }
    Ok(())
}

/// Runs the hello workflow by the server in a pod, and returns what is printed.
fn hello(pod: &Pod, key: &str) -> DistResult<String> {
    let workflow = fs::File::open(files().join("hello.yaml"))?;
    let said = pod.run(&to_server(&["submit", "-", "--wait"]), Some((key, workflow)))?;
    install::expect_greeting(&said)?;
    Ok(said)
}

/// Asks the server in a pod, and expects a word in its response.
fn ask(pod: &Pod, words: &[&str], key: &str, expected: &str) -> DistResult {
    let said = pod.run(&to_server(words), Some((key, fs::File::open("/dev/null")?)))?;
    if said.contains(expected) { Ok(()) } else { Err(format!("expected {expected} in {said:?}").into()) }
}

/// Arguments of a command for the server in its pod.
fn to_server(words: &[&str]) -> Vec<String> {
    words.iter().chain(&["--server", "http://127.0.0.1:8484"]).map(ToString::to_string).collect()
}

/// Runs the image's health check until it succeeds.
fn wait_until_healthy(image: &Image, pod: &Pod) -> DistResult {
    let start = Instant::now();
    loop {
        let health = pod.output(image.health.get(1..).unwrap_or_default(), None)?;
        if health.status.success() {
            return Ok(());
        }
        if start.elapsed() > LIMIT {
            return Err(format!("no server is healthy after {LIMIT:?}: {health:?}").into());
        }
        thread::sleep(PAUSE);
    }
}

/// Folder with these files.
fn folder_of(name: &str) -> PathBuf {
    root().join("host/dist").join(name)
}

/// Checks that the page about containers names each of these.
fn documented(names: &[String]) -> DistResult {
    let page = fs::read_to_string(root().join("host/docs/how-to/containers.md"))?;
    let missing: Vec<&str> = names.iter().map(String::as_str).filter(|name| !page.contains(name)).collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("host/docs/how-to/containers.md does not name {}", missing.join(", ")).into())
    }
}

/// Returns the text at a place in a JSON value.
fn text<'a>(value: &'a Value, pointer: &str) -> DistResult<&'a str> {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.ok_or_else(|| format!("expected a text at {pointer} of {value}").into())
}

/// Returns the elements at a place in a JSON value; none if nothing is there.
fn list<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    value.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the texts of a list.
fn texts(value: &Value, pointer: &str) -> Vec<String> {
    list(value, pointer).filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

/// Checks that a value is at each place; all that is missing is said.
fn expect(what: &str, value: &Value, expected: &[(&str, Value)]) -> DistResult {
    let wrong = expected.iter().filter(|(pointer, expected)| value.pointer(pointer) != Some(expected));
    let wrong: Vec<String> = wrong
        .map(|(pointer, expected)| {
            let found = value.pointer(pointer).unwrap_or(&Value::Null);
            format!("{what}: {pointer}: expected {expected}, found {found}")
        })
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Reads the name of a signal.
fn signal(name: &str) -> DistResult<Signal> {
    match name {
        "SIGTERM" => Ok(Signal::TERM),
        "SIGINT" => Ok(Signal::INT),
        other => Err(format!("STOPSIGNAL {other}: expected SIGTERM or SIGINT").into()),
    }
}
