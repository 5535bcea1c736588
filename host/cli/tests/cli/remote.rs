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

/// R-L30: without a store and a server, commands use the default store, through its server while there is one.
#[test]
fn the_default_store_is_found_by_commands_and_its_server() {
    let bench = Bench::new();
    approval(&bench, "1h");
    let nothing = bench.phasm(&["list"]);
    let says = "there are no runs yet: no store is named, and the default store";
    assert!(nothing.status == 2 && nothing.stderr.contains(says), "{nothing:?}");
    let order = "`--server` or `--store`; PHASM_SERVER; PHASM_STORE; the server that serves the default store; the default store";
    assert!(nothing.stderr.contains(order), "{nothing:?}");
    // The same words are in the help, of the command and of those that use it.
    for help in [&["--help"][..], &["list", "--help"], &["cron", "trigger", "--help"]] {
        let help = bench.phasm(help).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(order), "{help}");
    }
    let first = bench.phasm(&["submit", "release.yaml"]);
    assert_eq!(first.status, 0, "{first:?}");
    let run = first.stdout.trim().to_owned();
    assert!(bench.path("data/phasm/runs.db").exists());
    assert!(bench.phasm(&["list"]).stdout.contains(&run));
    assert!(bench.phasm(&["get", "@last"]).stdout.contains("Created"));
    let mut host = Running::start(&bench, &["serve", "--listen", "127.0.0.1:0"]);
    host.until(&["/v1/docs\n", &format!("{run} release waits")]);
    let approved = bench.phasm(&["respond", "@last", "-p", "by=Ada"]);
    assert!(
        approved.status == 0 && approved.stderr.contains(&format!(" watch {run}\n")),
        "no option is needed: {approved:?}"
    );
    assert_eq!(bench.phasm(&["watch", "@last"]).status, 0);
    assert!(bench.phasm(&["logs", "@last"]).status == 0);
    // A store that is named is used itself.
    let other = bench.phasm(&["list", "--store", "other.db"]);
    let missing = other.stderr.contains("there is no store other.db") && other.stderr.contains(order);
    assert!(other.status == 2 && missing, "{other:?}");
    host.signal(Signal::TERM);
    host.end();
    assert!(bench.phasm(&["list"]).stdout.contains("Succeeded"));
}

/// R-L30: a server that asks for a key names the variable that has it.
#[test]
fn a_missing_key_names_its_variable() {
    let bench = Bench::new();
    approval(&bench, "1h");
    let key = bench.phasm(&["key", "add", "ci", "--store", "runs.db"]);
    assert_eq!(key.status, 0, "{key:?}");
    let (_host, url) = server(&bench);
    for command in [
        &["list"][..],
        &["get", "@last"],
        &["logs", "@last"],
        &["events", "@last"],
        &["watch", "@last"],
        &["cancel", "@last"],
        &["approve", "@last"],
        &["rerun", "@last"],
        &["submit", "release.yaml"],
        &["notify", "list", "@last"],
        &["cron", "list"],
        &["workflow", "list"],
        &["plugin", "list"],
    ] {
        let ran = bench.phasm(&[command, &["--server", url.as_str()]].concat());
        assert!(ran.status == 2 && ran.stderr.contains("PHASM_KEY is not set"), "{command:?}: {ran:?}");
        let wrong = [command, &["--server", url.as_str()]].concat();
        let ran = Ran::from(bench.command(&wrong).env("PHASM_KEY", "phasm_wrong").output().unwrap());
        assert!(ran.status == 2 && ran.stderr.contains("the key in PHASM_KEY"), "{command:?}: {ran:?}");
    }
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

/// R-L50: off a terminal `top` says once what there is; of a server also how busy its host is.
#[test]
fn top_shows_open_runs_and_how_busy_a_server_is() {
    let bench = Bench::new();
    bench.task("say.yaml", "say", "");
    approval(&bench, "1h");
    let (mut host, url) = server(&bench);
    let (here, there) = (["--store", "runs.db"], ["--server", url.as_str()]);
    // The server counts its runs once in some seconds: it is asked once there is one.
    let none = with(&bench, &["top"], here);
    assert!(none.status == 0 && none.stdout.ends_with("no run is open\n"), "{none:?}");
    assert_eq!(with(&bench, &["submit", "say.yaml", "--wait"], there).status, 0);
    let run = with(&bench, &["submit", "release.yaml"], there).stdout.trim().to_owned();
    host.until(&[&format!("{run} release waits")]);
    let (kept, told) =
        (with(&bench, &["top", "--json"], here).json(), with(&bench, &["top", "--json"], there).json());
    assert_eq!(kept["open"], told["open"]);
    assert_eq!(told["open"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&told["open"][0]["runID"], &told["open"][0]["progress"]),
        (&run.as_str().into(), &"1/3".into())
    );
    assert_eq!(kept["runs"], told["runs"]);
    let open: u64 = kept["runs"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(open, 1, "{kept}");
    assert!(kept.get("host").is_none(), "{kept}");
    assert!(told["host"]["slots"].as_u64().unwrap() > 0 && told["host"]["executing"] == 0, "{told}");
    assert!(told["host"].get("attemptsPerSecond").is_none(), "{told}");
    let page = with(&bench, &["top"], there);
    assert!(page.stdout.contains("slots: ") && page.stdout.contains(&run), "{page:?}");
    assert!(!with(&bench, &["top"], here).stdout.contains("slots: "));
    host.signal(Signal::INT);
    host.end();
}

/// A schedule, as [`crate::schedules`] has them.
fn nightly(name: &str, executor: &str) -> String {
    format!(
        "apiVersion: aether/v1\nkind: CronWorkflow\nmetadata: {{ name: {name} }}\nspec:\n  schedule: '0 3 * * *'\n  timezone: Europe/Berlin\n  \
         startAt: '2030-01-01T00:00:00Z'\n  workflowSpec:\n    entrypoint: main\n    templates:\n      - task: {{ name: main, executor: {{ type: {executor} }} }}\n"
    )
}

/// Commands with the same output for a file and a server.
const SAME: [&[&str]; 21] = [
    &["cron", "list"],
    &["cron", "list", "--json"],
    &["cron", "list", "--namespace", "none"],
    &["cron", "get", "nightly"],
    &["cron", "get", "nightly", "--json"],
    &["cron", "get", "nightly", "--document"],
    &["cron", "next", "nightly", "--json"],
    &["cron", "get", "none"],
    &["cron", "suspend", "none"],
    &["cron", "trigger", "none"],
    &["cron", "trigger", "nightly", "-p", "none=1"],
    &["cron", "add", "w.yaml"],
    &["workflow", "list"],
    &["workflow", "list", "--json"],
    &["workflow", "get", "w"],
    &["workflow", "get", "w", "--json"],
    &["workflow", "get", "w", "--digest", "ffff"],
    &["workflow", "get", "none"],
    &["workflow", "save", "far.yaml"],
    &["workflow", "submit", "none"],
    &["workflow", "submit", "w", "--digest", "ffff"],
];

/// R-L42: schedules and saved workflows read the same, and are changed the same.
#[test]
fn what_a_server_keeps_is_what_its_store_keeps() {
    let bench = Bench::new();
    let (mut host, url) = server(&bench);
    let (here, there) = (["--store", "runs.db"], ["--server", url.as_str()]);
    bench.write("far.yaml", nightly("nightly", "nap"));
    bench.write("near.yaml", nightly("weekly", "nap"));
    bench.task("w.yaml", "code", "");
    let plain = |ran: &Ran| {
        let both = format!("{}\n{}", ran.stdout, ran.stderr);
        both.replace(&format!("--server {url}"), "--store runs.db")
            .replace("weekly", "nightly")
            .replace("near.yaml", "far.yaml")
    };
    // The same words for the same deeds.
    let pair = |one: &[&str], other: &[&str]| {
        let (told, kept) = (with(&bench, one, there), with(&bench, other, here));
        assert_eq!((told.status, plain(&told)), (kept.status, plain(&kept)), "{one:?}");
        told
    };
    let added = pair(&["cron", "add", "far.yaml"], &["cron", "add", "near.yaml"]);
    assert_eq!(added.status, 0, "{added:?}");
    pair(&["cron", "add", "far.yaml"], &["cron", "add", "near.yaml"]);
    pair(&["cron", "suspend", "nightly"], &["cron", "suspend", "weekly"]);
    pair(&["cron", "resume", "nightly"], &["cron", "resume", "weekly"]);
    pair(&["cron", "next", "nightly", "-n", "2"], &["cron", "next", "weekly", "-n", "2"]);
    let run = with(&bench, &["cron", "trigger", "nightly", "--key", "t"], there);
    // R-A104.
    let again = with(&bench, &["cron", "trigger", "nightly", "--key", "t"], there);
    assert_eq!((again.status, &again.stdout), (0, &run.stdout), "{again:?}");
    assert!(again.stderr.contains("had been submitted before"), "{again:?}");
    host.until(&[&format!("{} nightly Succeeded", run.stdout.trim())]);
    let saved = with(&bench, &["workflow", "save", "w.yaml"], there);
    let again = with(&bench, &["workflow", "save", "w.yaml"], here);
    assert_eq!((saved.status, plain(&saved)), (0, plain(&again)), "{again:?}");
    for arguments in SAME {
        pair(arguments, arguments);
    }
    let first = with(&bench, &["workflow", "submit", "w", "-p", "code=2", "--key", "one", "--json"], there);
    let again = with(&bench, &["workflow", "submit", "w", "-p", "code=2", "--key", "one", "--json"], here);
    // R-A104.
    for target in [here, there] {
        let other = with(&bench, &["workflow", "submit", "w", "--key", "one"], target);
        let why = "other parameters: `code`";
        assert!(other.status == 2 && other.stderr.contains(why) && other.stdout.is_empty(), "{other:?}");
    }
    assert_eq!(
        (first.json()["runID"].clone(), again.json()["isNew"].as_bool()),
        (again.json()["runID"].clone(), Some(false))
    );
    host.until(&[&format!("{} w Failed", first.json()["runID"].as_str().unwrap())]);
    pair(&["cron", "remove", "nightly"], &["cron", "remove", "weekly"]);
    pair(&["cron", "remove", "nightly"], &["cron", "remove", "weekly"]);
    assert_eq!(with(&bench, &["workflow", "remove", "w"], there).status, 0);
    pair(&["workflow", "remove", "w"], &["workflow", "remove", "w"]);
    host.signal(Signal::INT);
    host.end();
}

/// R-L43: the page is opened where a server is, in the browser that is named, and signed in without the key in what that is called with.
#[test]
fn the_page_is_opened_in_a_browser() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new();
    bench.task("say.yaml", "say", "");
    let browser = bench.path("browser");
    bench.write("browser", "#!/bin/sh\nprintf '%s\\n' \"$@\" > called; env > environment\n");
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    let named = browser.to_str().unwrap();
    let open = |variables: &[(&str, &str)], arguments: &[&str]| {
        let _none = std::fs::remove_file(bench.path("called"));
        bench.phasm_with(&[&[("BROWSER", named)], variables].concat(), &[&["open"], arguments].concat())
    };
    let called = || std::fs::read_to_string(bench.path("called")).unwrap().trim().to_owned();
    let unserved = open(&[], &["--store", "runs.db"]);
    assert_eq!(unserved.status, 2, "{unserved:?}");
    assert!(unserved.stderr.contains("serve --listen --store runs.db"), "{unserved:?}");

    let (host, url) = server(&bench);
    let opened = open(&[], &["--store", "runs.db"]);
    assert_eq!((opened.status, opened.stdout.as_str()), (0, format!("{url}/\n").as_str()), "{opened:?}");
    assert_eq!(called(), format!("{url}/"));
    let run = with(&bench, &["submit", "say.yaml"], ["--server", &url]).stdout.trim().to_owned();
    open(&[], &["@last", "--server", &url]);
    assert_eq!(called(), format!("{url}/runs/{run}"));
    let none = open(&[], &["nothing", "--server", &url]);
    assert!(none.status == 2 && none.stderr.contains("there is no run nothing"), "{none:?}");
    let unshown = bench.phasm_with(&[("BROWSER", "/nowhere/browser")], &["open", "--server", &url]);
    assert!(
        unshown.status == 0 && unshown.stdout.contains(&url) && unshown.stderr.contains("no browser"),
        "{unshown:?}"
    );

    let key = bench.phasm(&["key", "add", "ada", "--store", "runs.db"]).stdout.trim().to_owned();
    open(&[], &["--store", "runs.db"]);
    assert_eq!(called(), format!("{url}/"), "the page asks for the key");
    let signed = open(&[("PHASM_KEY", &key)], &["@last", "--store", "runs.db"]);
    assert_eq!(signed.status, 0, "{signed:?}");
    let bridge = std::fs::read_to_string(called()).unwrap();
    let environment = std::fs::read_to_string(bench.path("environment")).unwrap();
    assert!(bridge.contains("/login?ticket=") && bridge.contains(&format!("to=/runs/{run}")), "{bridge}");
    for text in [&bridge, &environment, &signed.stdout, &signed.stderr] {
        assert!(!text.contains(&key), "{text}");
    }
    assert_eq!(std::fs::metadata(called()).unwrap().permissions().mode() & 0o777, 0o600);
    let wrong = open(&[("PHASM_KEY", "phasm_wrong")], &["--store", "runs.db"]);
    assert!(wrong.status == 2 && wrong.stderr.contains("is not known"), "{wrong:?}");
    host.signal(Signal::KILL);
    host.end();
    let gone = open(&[], &["--store", "runs.db"]);
    assert!(gone.status == 2 && gone.stderr.contains("no server of runs.db is known"), "{gone:?}");
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
            "resumed\nfollow it: {} watch {run} --server {url}\nthe run ",
            env!("CARGO_BIN_EXE_phasm")
        )),
        "{answered:?}"
    );
    let ended = with(&bench, &["watch", &run], there);
    assert_eq!(ended.status, 0, "{ended:?}");
    let late = with(&bench, &["resume", &run, "wait-external"], there);
    assert!(late.status == 2 && late.stderr.contains("has already ended"), "{late:?}");
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

/// R-L30: who needs a file that a server holds is told whom to ask instead.
#[test]
fn a_file_that_a_server_holds_names_the_server() {
    let bench = Bench::new();
    bench.task("say.yaml", "say", "");
    let (mut host, url) = server(&bench);
    let run = with(&bench, &["submit", "say.yaml"], ["--server", &url]).stdout.trim().to_owned();
    host.until(&[&format!("{run} w Succeeded")]);
    let held = with(&bench, &["rerun", &run], ["--store", "runs.db"]);
    let hint = format!(
        "its server uses it, and resumes runs by itself; other commands ask the server with `--server {url}`"
    );
    assert!(held.status == 2 && held.stderr.contains(&hint), "{held:?}");
    assert_eq!(with(&bench, &["rerun", &run], ["--server", &url]).status, 0);
    host.signal(Signal::INT);
    host.end();
    assert_eq!(with(&bench, &["rerun", &run], ["--store", "runs.db"]).status, 0);
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
        (vec!["submit", "gone.yaml", "--allow-missing"], "is not supported with `--server`"),
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
