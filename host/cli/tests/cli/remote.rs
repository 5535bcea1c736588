//! Commands against a server, beside the same against its store.

use rustix::process::Signal;

use crate::{
    bench::{Bench, Ran},
    crash::Running,
    stored::{approval, two_questions},
};

/// A server on the store `runs.db`, and its URL.
fn server(bench: &Bench) -> (Running, String) {
    let mut host = Running::start(bench, &["serve", "--listen", "127.0.0.1:0", "--store", "runs.db"]);
    host.until(&["listening on http://", "/v1/docs\n"]);
    let url = host.said().split("listening on ").nth(1).unwrap().lines().next().unwrap().to_owned();
    (host, url)
}

fn with(bench: &Bench, arguments: &[&str], place: [&str; 2]) -> Ran {
    bench.phasm(&[arguments, &place].concat())
}

/// R-L30: what is looked at reads the same.
#[test]
fn a_server_shows_what_its_store_holds() {
    let bench = Bench::new();
    bench.task("say.yaml", "say", "");
    approval(&bench, "1h");
    let (host, url) = server(&bench);
    let here = ["--store", "runs.db"];
    let there = ["--server", url.as_str()];
    let said = with(&bench, &["submit", "say.yaml", "--wait"], there);
    assert_eq!(said.status, 0, "{said:?}");
    let asks = with(&bench, &["submit", "release.yaml", "-p", "other=1"], there);
    assert_eq!(asks.status, 2, "no such parameter: {asks:?}");
    let asks = with(&bench, &["submit", "release.yaml", "--key", "one"], there);
    let again = with(&bench, &["submit", "release.yaml", "--key", "one"], there);
    assert_eq!((again.stdout.as_str(), asks.status), (asks.stdout.as_str(), 0), "{again:?}");
    assert!(again.stderr.contains("had been submitted before"), "{again:?}");
    let run = asks.stdout.trim().to_owned();
    let mut host = host;
    host.until(&[&format!("{run} release waits")]);
    let first = said.stdout.split('(').nth(1).and_then(|rest| rest.split(')').next()).unwrap().to_owned();
    for arguments in [
        vec!["list"],
        vec!["list", "--json"],
        vec!["list", "--open", "--json"],
        vec!["list", "--before", &run, "--json"],
        vec!["get", "@last", "--json"],
        vec!["get", &run[28..], "--json"],
        vec!["get", &first, "--json"],
        vec!["get", &first, "--usage"],
        vec!["events", &run],
        vec!["events", &first, "-f"],
        vec!["logs", &first],
        vec!["logs", &first, "--json"],
        vec!["watch", &first],
        vec!["graph", &first],
    ] {
        let (told, kept) = (with(&bench, &arguments, there), with(&bench, &arguments, here));
        let plain = |ran: &Ran| ran.stdout.replace(&format!("--server {url}"), "--store runs.db");
        assert_eq!(
            (told.status, plain(&told)),
            (kept.status, kept.stdout.clone()),
            "{arguments:?}: {told:?} {kept:?}"
        );
        assert!(!told.stdout.is_empty(), "{arguments:?}: {told:?}");
    }
    host.signal(Signal::INT);
    host.end();
}

/// R-L30: what is asked is done where the run is.
#[test]
fn a_run_of_a_server_is_answered_cancelled_and_run_again() {
    let bench = Bench::new();
    approval(&bench, "1h");
    two_questions(&bench);
    let (mut host, url) = server(&bench);
    let there = ["--server", url.as_str()];
    let submit = |file: &str| with(&bench, &["submit", file], there).stdout.trim().to_owned();
    let (run, other) = (submit("release.yaml"), submit("ask.yaml"));
    host.until(&[&format!("{run} release waits"), &format!("{other} ask waits")]);
    let answered = with(&bench, &["resume", &run, "wait-external", "-p", "by=Ada"], there);
    assert_eq!((answered.status, answered.stdout.as_str()), (0, ""), "{answered:?}");
    assert!(
        answered.stderr.contains(&format!(
            "resumed: true\nfollow it: {} watch {run} --server {url}",
            env!("CARGO_BIN_EXE_phasm")
        )),
        "{answered:?}"
    );
    let ended = with(&bench, &["watch", &run], there);
    assert_eq!(ended.status, 0, "{ended:?}");
    let late = with(&bench, &["resume", &run, "wait-external"], there);
    assert!(late.status == 2 && late.stderr.contains("refused: "), "{late:?}");
    let one = with(&bench, &["cancel", &other, "--task", "one", "--json"], there);
    assert_eq!((one.status, one.json()["tasks"][1]["phase"].as_str()), (0, Some("Cancelled")), "{one:?}");
    let rest = with(&bench, &["cancel", &other], there);
    assert_eq!(rest.status, 0, "{rest:?}");
    host.until(&[&format!("{other} ask Cancelled")]);
    let rerun = with(&bench, &["rerun", &other, "--from-failed", "--json"], there);
    let new = rerun.json()["runID"].as_str().unwrap().to_owned();
    assert_eq!((rerun.status, rerun.json()["isNew"].as_bool()), (0, Some(true)), "{rerun:?}");
    host.until(&[&format!("{new} ask waits")]);
    host.signal(Signal::INT);
    host.end();
}

/// R-L30: whatever is wrong is told as of a store, with places in the document.
#[test]
fn what_is_wrong_is_told_where_it_stands() {
    let bench = Bench::new();
    bench.task("gone.yaml", "gone", "");
    bench.write("broken.yaml", "apiVersion: aether/v1\nkind: [\n");
    let (host, url) = server(&bench);
    let there = ["--server", url.as_str()];
    let (told, here) =
        (with(&bench, &["submit", "gone.yaml"], there), bench.phasm(&["validate", "gone.yaml"]));
    let place = here.stderr.lines().next().unwrap().split(": ").next().unwrap();
    assert!(
        told.status == 2 && told.stderr.starts_with(place) && told.stderr.contains("^"),
        "{told:?} {here:?}"
    );
    let told = with(&bench, &["submit", "gone.yaml", "--json"], there);
    assert_eq!(
        (told.status, told.json()["problems"][0]["file"].as_str()),
        (2, Some("gone.yaml")),
        "{told:?}"
    );
    let told = with(&bench, &["submit", "broken.yaml"], there);
    assert!(told.status == 2 && told.stderr.contains("broken.yaml:"), "{told:?}");
    for (arguments, why) in [
        (vec!["get", "nothing"], "there is no run nothing"),
        (vec!["get", "x", "--store", "runs.db"], "cannot be used with"),
        (vec!["submit", "gone.yaml", "--allow-missing"], "a server decides itself"),
    ] {
        let told = with(&bench, &arguments, there);
        assert!(told.status == 2 && told.stderr.contains(why), "{arguments:?}: {told:?}");
    }
    let nowhere = bench.phasm(&["list", "--server", "http://127.0.0.1:1"]);
    assert!(nowhere.status == 3 && nowhere.stderr.contains("127.0.0.1:1"), "{nowhere:?}");
    let no_url = bench.phasm(&["list", "--server", "runs.db"]);
    assert!(no_url.status == 2 && no_url.stderr.contains("expected a server such as"), "{no_url:?}");
    host.signal(Signal::INT);
    host.end();
}
