//! The example of several hosts on one machine, as its page has it.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio, id},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    bench::{Bench, Ran},
    database::server,
};

/// R-H26, R-H25: three hosts share a run; one is killed, and nothing of the run is lost or done twice that was recorded.
#[test]
fn a_host_of_a_cluster_is_killed_and_its_run_goes_on() {
    // Where no server is installed that was said.
    if server::server().is_none() {
        return;
    }
    let bench = Bench::new();
    let doze = fs::read(bench.path("plugins/doze.wasm")).unwrap();
    bench.write("short/sleep.wasm", doze);
    // The hosts have none: what a run needs is in the database.
    fs::create_dir(bench.path("none")).unwrap();
    let dir = env::temp_dir().join(format!("phasm-cluster-test-{}", id()));
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/cluster");
    let script = |arguments: &[&str]| {
        let mut script = Command::new(example.join("cluster"));
        script.args(arguments).current_dir(bench.path("."));
        script
            .env("PHASM", env!("CARGO_BIN_EXE_phasm"))
            .env("PHASM_CLUSTER_DIR", &dir)
            .env("SLOTS", "5")
            .env("LEASE", "1");
        script
            .env("PHASM_CACHE_DIR", bench.path("cache"))
            .env("PHASM_EXECUTORS", "")
            .env("PHASM_PLUGINS", bench.path("none"));
        script
    };
    let mut up = script(&["up"]).stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(up.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("Ctrl-C ends")), "it did not start");

    let environment = fs::read_to_string(dir.join("environment")).unwrap();
    let store = environment.split('\'').nth(1).unwrap().to_owned();
    let plugins = bench.path("short").to_str().unwrap().to_owned();
    let phasm = |arguments: &[&str]| {
        bench.phasm_with(&[("PHASM_STORE", &store), ("PHASM_PLUGINS", &plugins)], arguments)
    };
    let wide = example.join("wide.yaml");
    let submitted = phasm(&["submit", wide.to_str().unwrap(), "-p", "tasks=200"]);
    assert_eq!(submitted.status, 0, "{submitted:?}");
    let run = submitted.stdout.trim();
    assert!(lines.any(|line| line.contains("wide is running here")), "no process drives it");
    let driver = (1..=3).find(|host| {
        fs::read_to_string(dir.join(format!("host{host}.log"))).unwrap().contains("wide is running here")
    });
    let killed = script(&["kill", &driver.unwrap().to_string()]).output().unwrap();
    assert!(killed.status.success(), "{killed:?}");

    let events = phasm(&["events", run, "-f"]).json_lines();
    let of = |kind: &str| events.iter().filter(|event| event.get("type").unwrap() == kind).count();
    assert_eq!((of("task.attempt.done"), of("run.submitted")), (200, 1));
    let view = phasm(&["get", run, "--json"]).json();
    assert_eq!(view.get("phase").unwrap(), "Succeeded", "{view}");

    kill_process(Pid::from_child(&up), Signal::TERM).unwrap();
    lines.for_each(drop);
    let ended = Ran::from(up.wait_with_output().unwrap());
    assert_eq!((ended.status, dir.exists()), (0, false), "{ended:?}");
}
