//! Hosts that serve a store, and runs that are submitted to them.

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use crate::{
    bench::{Bench, Ran},
    crash::Running,
    database::server,
    stored::approval,
};

const SERVE: [&str; 3] = ["serve", "--store", "runs.db"];

fn submit(bench: &Bench, arguments: &[&str]) -> String {
    let submitted = bench.phasm(&[&["submit", "--store", "runs.db"], arguments].concat());
    assert_eq!(submitted.status, 0, "{submitted:?}");
    submitted.stdout.trim().to_owned()
}

fn state(bench: &Bench, run: &str) -> String {
    let view = bench.phasm(&["get", run, "--store", "runs.db", "--json"]).json();
    view.get("phase").unwrap().as_str().unwrap().to_owned()
}

/// R-L16, R-L17: what is submitted is driven, before a host is there and while one is.
#[test]
fn what_is_submitted_is_driven_by_whoever_serves() {
    let bench = Bench::new();
    bench.task("nap.yaml", "nap", "");
    let early = bench.phasm(&["submit", "nap.yaml", "--store", "runs.db"]);
    assert_eq!(early.status, 0, "{early:?}");
    let early_id = early.stdout.trim();
    assert!(early.stderr.contains("no process serves the store now; start one with: "), "{early:?}");
    assert_eq!(state(&bench, early_id), "Created");

    let mut host = Running::start(&bench, &SERVE);
    host.until(&["serving runs.db", "slots; plugins: assert, code", &format!("{early_id} w Succeeded")]);
    let late = submit(&bench, &["nap.yaml"]);
    host.until(&[&format!("{late} w is running here"), &format!("{late} w Succeeded")]);
    assert_eq!(state(&bench, &late), "Succeeded");
    bench.task("code.yaml", "code", "");
    let waited =
        bench.phasm(&["submit", "code.yaml", "-p", "code=2", "--wait", "--store", "runs.db", "--json"]);
    assert_eq!(
        (waited.status, waited.json().get("phase").unwrap().as_str()),
        (1, Some("Failed")),
        "{waited:?}"
    );
    host.signal(Signal::TERM);
    let ended = host.end();
    assert_eq!((ended.status, ended.stdout.as_str()), (143, ""), "{ended:?}");
    assert!(ended.stderr.contains("terminated: runs stay open"), "{ended:?}");
    assert!(ended.stderr.contains("serve --store runs.db\n"), "{ended:?}");
}

/// R-L17: the document and the parameters are checked before anything is stored; a submission is known by its key.
#[test]
fn a_submission_is_checked_and_known_by_its_key() {
    let bench = Bench::new();
    bench.task("nap.yaml", "nap", "");
    bench.task("gone.yaml", "gone", "");
    let refused = bench.phasm(&["submit", "gone.yaml", "--store", "runs.db"]);
    assert_eq!((refused.status, bench.path("runs.db").exists()), (2, false), "{refused:?}");
    let first = submit(&bench, &["nap.yaml", "--key", "nightly", "-p", "code=1"]);
    let nightly = ["submit", "nap.yaml", "--key", "nightly", "-p", "code=1", "--store", "runs.db"];
    let again = bench.phasm(&[&nightly[..], &["--json"]].concat());
    assert_eq!((again.status, again.json()["runID"].as_str()), (0, Some(&*first)), "{again:?}");
    assert_eq!(again.json()["isNew"], false);
    let mut host = Running::start(&bench, &SERVE);
    host.until(&["Succeeded"]);
    let held = bench.phasm(&nightly);
    assert_eq!(held.stdout.trim(), first, "{held:?}");
    // R-A104: another workflow file, and other parameters.
    bench.task("linger.yaml", "linger", "");
    for (file, why) in [("linger.yaml", "another workflow file"), ("nap.yaml", "other parameters: `code`")] {
        let other = bench.phasm(&["submit", file, "--key", "nightly", "--store", "runs.db"]);
        let says = other.stderr.contains(why) && other.stderr.contains(&first);
        assert!(other.status == 2 && says && other.stdout.is_empty(), "{other:?}");
    }
    let other = submit(&bench, &["nap.yaml", "--key", "other"]);
    assert_ne!(other, first);
    host.until(&[&format!("{other} w Succeeded")]);
    host.signal(Signal::INT);
    assert_eq!(host.end().status, 130);
    let all = bench.phasm(&["list", "--store", "runs.db", "--json"]).json();
    assert_eq!(all.as_array().unwrap().len(), 2, "{all}");
}

/// R-L16: what a run needs and is not here is said once, and the run is left as it is.
#[test]
fn a_run_that_cannot_be_driven_here_is_passed_over() {
    let bench = Bench::new();
    bench.task("linger.yaml", "linger", "");
    bench.write("on.toml", "[grants.linger]\nenv = { GO = \"on\" }\n");
    let run = submit(&bench, &["linger.yaml", "--config", "on.toml"]);
    let mut host = Running::start(&bench, &SERVE);
    host.until(&[&format!("{run} w is left to other hosts: "), "GO"]);
    bench.task("nap.yaml", "nap", "");
    let other = submit(&bench, &["nap.yaml"]);
    host.until(&[&format!("{other} w Succeeded")]);
    host.signal(Signal::TERM);
    let ended = host.end();
    assert_eq!(ended.stderr.matches("is left to other hosts").count(), 1, "{ended:?}");
    let mut host = Running::start(&bench, &[&SERVE[..], &["--config", "on.toml"]].concat());
    host.until(&[&format!("{run} w Succeeded")]);
    host.signal(Signal::TERM);
    host.end();
}

/// R-H18: a run that the server cannot resume is ended from a second terminal, one that it can is not.
#[test]
fn a_run_is_abandoned_beside_a_host() {
    let bench = Bench::new();
    bench.task("linger.yaml", "linger", "");
    bench.write("on.toml", "[grants.linger]\nenv = { GO = \"on\" }\n");
    approval(&bench, "1h");
    let lacks = submit(&bench, &["linger.yaml", "--config", "on.toml"]);
    let broken = submit(&bench, &["release.yaml"]);
    let file = rusqlite::Connection::open(bench.path("runs.db")).unwrap();
    let spoil = "UPDATE journal SET time = time + 1 WHERE run = (SELECT number FROM runs WHERE run_id = ?1)";
    assert_eq!(file.execute(spoil, [&broken]).unwrap(), 1);
    drop(file);
    let sound = submit(&bench, &["release.yaml"]);
    let mut host = Running::start(&bench, &SERVE);
    host.until(&[&format!("{lacks} w is left to other hosts: ")]);
    let abandon =
        |run: &str| bench.phasm(&["abandon", run, "--reason", "it is of no use", "--store", "runs.db"]);

    let ended = abandon(&lacks);
    assert_eq!((ended.status, &*ended.stderr), (0, &*format!("{lacks} is abandoned\n")), "{ended:?}");
    let shown = bench.phasm(&["get", &lacks, "--store", "runs.db"]);
    assert!(shown.stdout.contains("it is of no use"), "{shown:?}");
    let ended = abandon(&broken);
    assert_eq!(ended.status, 0, "{ended:?}");
    assert!(ended.stderr.contains("the reason is not recorded"), "{ended:?}");
    let refused = abandon(&sound);
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(refused.stderr.contains("can continue it; `phasm cancel` ends it"), "{refused:?}");
    assert_eq!(abandon(&lacks).status, 2, "it has ended");
    host.signal(Signal::TERM);
    host.end();
}

/// R-L16: attempts may end within the grace, runs stay open, and objects tell what became of them.
#[test]
fn a_host_that_is_told_to_end_leaves_runs_open() {
    let bench = Bench::new();
    bench.task("linger.yaml", "linger", "");
    approval(&bench, "1h");
    let lingers = submit(&bench, &["linger.yaml"]);
    let waits = submit(&bench, &["release.yaml"]);
    let mut host = bench.command(&[&SERVE[..], &["--json", "--grace", "0s"]].concat());
    let mut host = host.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(host.stdout.take().unwrap()))
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let serving = lines.next().unwrap();
    assert_eq!((&serving["type"], &serving["slots"]), (&"serving".into(), &2048.into()), "{serving}");
    // A run that only waits for a person is given back, which is the last event.
    let given_back = lines.by_ref().find(|line| line["type"] == "given-back").unwrap();
    assert_eq!(given_back["runID"], *waits, "{given_back}");
    rustix::process::kill_process(rustix::process::Pid::from_child(&host), Signal::TERM).unwrap();
    drop(lines);
    let ended = Ran::from(host.wait_with_output().unwrap());
    assert_eq!(ended.status, 143, "{ended:?}");
    assert_eq!((state(&bench, &lingers), state(&bench, &waits)), ("Running".into(), "Running".into()));
    let on = "[grants.linger]\nenv = { GO = \"on\" }\n";
    bench.write("on.toml", on);
    let mut host = Running::start(&bench, &[&SERVE[..], &["--config", "on.toml"]].concat());
    host.until(&[&format!("{lingers} w Succeeded")]);
    host.signal(Signal::TERM);
    host.end();
}

/// R-L16, R-H10: two hosts of a database drive what is submitted to it, each run once.
#[test]
fn hosts_of_a_database_share_its_runs() {
    let Some(server) = server::server() else { return };
    let bench = Bench::new();
    bench.task("nap.yaml", "nap", "");
    let url = server.url("served");
    let serve = ["serve", "--store", &url];
    let mut hosts = [Running::start(&bench, &serve), Running::start(&bench, &serve)];
    hosts.iter_mut().for_each(|host| host.until(&["slots; plugins: "]));
    for _ in 0..10 {
        let submitted = bench.phasm(&["submit", "nap.yaml", "--store", &url]);
        assert_eq!(submitted.status, 0, "{submitted:?}");
    }
    let open = || server.psql("SELECT count(*) FROM served.runs WHERE open");
    while open() != "0" {}
    hosts.iter().for_each(|host| host.signal(Signal::TERM));
    let said: String = hosts.map(|host| host.end().stderr).concat();
    assert_eq!(said.matches("is running here").count(), 10, "{said}");
    // A host that is told to end right after it recorded the last phase does not log it any more.
    let listed = bench.phasm(&["list", "--store", &url]).stdout;
    assert_eq!(listed.matches("Succeeded").count(), 10, "{listed}");
}

/// R-T12: an end by a clock is told as one, also where the phase is Cancelled.
#[test]
fn an_end_by_a_clock_is_told_by_the_host() {
    let bench = Bench::new();
    bench.task("linger.yaml", "linger", "maxRuntime: 100ms");
    let run = submit(&bench, &["linger.yaml"]);
    let mut host = Running::start(&bench, &SERVE);
    host.until(&[&format!("{run} w Cancelled, Timed out: exceeded maxRuntime (100 ms)")]);
    host.signal(Signal::TERM);
    assert_eq!(host.end().status, 143);
}

/// R-L16: stdout that is full, closed or not read ends no host, and delays neither runs nor signals.
#[test]
fn output_that_cannot_be_written_ends_no_host() {
    let full = || Stdio::from(std::fs::File::options().write(true).open("/dev/full").unwrap());
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };
    let outputs: [(&str, &dyn Fn() -> Stdio); 2] = [("No space left", &full), ("Broken pipe", &closed)];
    for (why, output) in outputs {
        let bench = Bench::new();
        bench.task("nap.yaml", "nap", "");
        let mut host = Running::start_into(&bench, &[&SERVE[..], &["--json"]].concat(), output());
        host.until(&["warning: stdout cannot be written: ", why, "runs continue"]);
        let run = submit(&bench, &["nap.yaml"]);
        while state(&bench, &run) != "Succeeded" {}
        host.signal(Signal::TERM);
        let ended = host.end();
        assert_eq!(ended.status, 143, "{ended:?}");
        assert_eq!(ended.stderr.matches("cannot be written").count(), 1, "{ended:?}");
    }
}

/// Reads what a pipe holds, which does not block, until a line has the words.
fn until_line(reader: &mut std::io::PipeReader, words: &str) -> String {
    use std::io::Read as _;
    let mut said = Vec::new();
    let mut part = [0; 1 << 12];
    loop {
        match reader.read(&mut part) {
            Ok(0) => panic!("ended: {}", String::from_utf8_lossy(&said)),
            Ok(read) => said.extend_from_slice(&part[..read]),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
        }
        let text = String::from_utf8_lossy(&said);
        if let Some(line) = text.lines().find(|line| line.contains(words)) {
            return line.to_owned();
        }
    }
}

/// R-L16: once stdout can be written again, a line tells how many are missing, and whole lines follow.
#[test]
fn output_that_can_be_written_again_tells_how_much_is_missing() {
    use std::io::Write as _;
    let bench = Bench::new();
    bench.task("nap.yaml", "nap", "");
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    for end in [rustix::fd::AsFd::as_fd(&reader), rustix::fd::AsFd::as_fd(&writer)] {
        rustix::fs::fcntl_setfl(end, rustix::fs::OFlags::NONBLOCK).unwrap();
    }
    while writer.write(&[b'\n'; 1 << 12]).is_ok() {}
    let mut host = Running::start_into(&bench, &[&SERVE[..], &["--json"]].concat(), Stdio::from(writer));
    host.until(&["warning: stdout cannot be written: "]);
    let first = submit(&bench, &["nap.yaml"]);
    while state(&bench, &first) != "Succeeded" {}
    // The pipe is emptied, and the next run's lines fit again.
    let mut rest = vec![0; 1 << 16];
    while std::io::Read::read(&mut reader, &mut rest).is_ok_and(|read| read > 0) {}
    let second = submit(&bench, &["nap.yaml"]);
    let missing: Value = serde_json::from_str(&until_line(&mut reader, "left-out")).unwrap();
    assert!(missing["count"].as_u64().unwrap() > 0, "{missing}");
    while state(&bench, &second) != "Succeeded" {}
    host.signal(Signal::TERM);
    assert_eq!(host.end().status, 143);
}

/// R-L16.
#[test]
fn output_that_is_not_read_delays_no_host() {
    use std::io::Write as _;
    let bench = Bench::new();
    bench.task("nap.yaml", "nap", "");
    let (reader, mut writer) = std::io::pipe().unwrap();
    // Room of a pipe on this system: nothing more fits.
    writer.write_all(&[b'\n'; 1 << 16]).unwrap();
    let run = submit(&bench, &["nap.yaml"]);
    let host = Running::start_into(&bench, &[&SERVE[..], &["--json"]].concat(), Stdio::from(writer));
    while state(&bench, &run) != "Succeeded" {}
    host.signal(Signal::TERM);
    assert_eq!(host.end().status, 143);
    drop(reader);
}

/// R-L46: each entry of the log has its time, as text and as an object; who responded from another process is in it.
#[test]
fn entries_of_the_log_have_times_and_callers() {
    for format in ["text", "json"] {
        let bench = Bench::new();
        bench.task("ask.yaml", "suspend", "");
        let mut host = Running::start(&bench, &[&SERVE[..], &["--log-format", format]].concat());
        let run = submit(&bench, &["ask.yaml"]);
        host.until(&[&format!("{run} w waits")]);
        let responded = bench.phasm(&["respond", &run, "--store", "runs.db"]);
        assert_eq!(responded.status, 0, "{responded:?}");
        host.until(&["request of another process", "respond", "local:"]);
        host.signal(Signal::TERM);
        let log = host.end().stderr;
        let mut entries = 0;
        for line in log.lines().filter(|line| !line.starts_with("  ") && !line.starts_with("resume with: ")) {
            let time = if format == "json" {
                let entry: Value =
                    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
                assert!(entry["message"].is_string() && entry["level"].is_string(), "{line}");
                entry["time"].as_str().unwrap().to_owned()
            } else {
                line.split(' ').next().unwrap().to_owned()
            };
            let is_time = phasm::engine::time::Timestamp::from_rfc3339(&time).is_some();
            assert!(is_time, "{line}");
            entries += 1;
        }
        assert!(entries >= 3, "{log}");
    }
}

/// R-H29: a host whose file was deleted says so and ends with a status of its own.
#[test]
fn a_host_whose_file_is_gone_ends() {
    let bench = Bench::new();
    bench.task("linger.yaml", "linger", "maxRuntime: 2s");
    let run = submit(&bench, &["linger.yaml"]);
    let mut host = Running::start(&bench, &SERVE);
    host.until(&[&format!("{run} w is running here")]);
    std::fs::rename(bench.path("runs.db"), bench.path("moved.db")).unwrap();
    let ended = host.end();
    assert_eq!(ended.status, 7, "{ended:?}");
    assert!(ended.stderr.contains("is gone: ") && ended.stderr.contains("was deleted or moved"), "{ended:?}");
}

/// R-H29: a command that drives its run itself ends in the same way.
#[test]
fn a_run_whose_file_is_gone_ends() {
    let bench = Bench::new();
    bench.task("linger.yaml", "linger", "maxRuntime: 2s");
    let mut run = Running::start(&bench, &["run", "linger.yaml", "--store", "runs.db"]);
    run.until(&["main"]);
    std::fs::rename(bench.path("runs.db"), bench.path("moved.db")).unwrap();
    let ended = run.end();
    assert_eq!(ended.status, 7, "{ended:?}");
    assert!(ended.stderr.contains("is gone: ") && ended.stderr.contains("was deleted or moved"), "{ended:?}");
}

/// R-H23: a server of a database needs no directory of the user.
#[test]
fn a_server_of_a_database_needs_no_home() {
    let Some(server) = server::server() else { return };
    let server = server.another(&[]);
    let bench = Bench::new();
    let url = server.url("homeless");
    for missing in [None, Some("/proc/none")] {
        let mut command = bench.command(&["serve", "--store", &url, "--listen", "127.0.0.1:0"]);
        for variable in ["HOME", "XDG_DATA_HOME"] {
            match missing {
                None => command.env_remove(variable),
                Some(directory) => command.env(variable, directory),
            };
        }
        command.stdout(Stdio::null());
        let mut host = Running::of(command);
        host.until(&["listening on http://"]);
        host.signal(Signal::TERM);
        assert_eq!(host.end().status, 143, "{missing:?}");
    }
}

/// R-H30: a host waits for a database that is not there yet, and obeys signals meanwhile.
#[test]
fn a_host_waits_for_its_database() {
    let Some(server) = server::server() else { return };
    let server = server.another(&[]);
    server.control("stop");
    let bench = Bench::new();
    let url = server.url("waits");
    let serve = ["serve", "--store", &url];
    let mut impatient = Running::start(&bench, &serve);
    impatient.until(&["waiting: ", "cannot be reached", "trying again"]);
    impatient.signal(Signal::TERM);
    assert_eq!(impatient.end().status, 143);
    let mut host = Running::start(&bench, &serve);
    host.until(&["waiting: "]);
    server.control("start");
    host.until(&["serving "]);
    host.signal(Signal::TERM);
    assert_eq!(host.end().status, 143);
}
