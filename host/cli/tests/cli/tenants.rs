//! Tenants as an operator meets them.

#[cfg(unix)]
use rustix::process::Signal;

use crate::bench::Bench;
#[cfg(unix)]
use crate::crash::Running;

/// A workflow of a namespace with so many tasks.
fn wide(namespace: &str, tasks: u32) -> String {
    format!(
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{ name: w, namespace: {namespace} }}\nspec:\n  entrypoint: main\n  \
         templates:\n    - task: {{ name: work, executor: {{ type: echo }} }}\n    - loop: {{ name: main, sequence: {{ count: {tasks} }}, \
         body: work }}\n"
    )
}

/// R-Q8: what waits for its tenant's quota says so, in the command that drives it, and in the journal.
#[test]
fn a_run_says_that_its_tenants_quota_is_used_up() {
    let bench = Bench::new();
    bench.write("wide.yaml", wide("acme", 3));
    bench.write("phasm.toml", "[tenants.acme.quotas]\nrunning = 1\n");
    let run = |more: &[&str]| bench.phasm(&[&["run", "wide.yaml", "--config", "phasm.toml"], more].concat());
    let said =
        "waits for its tenant's quota: 1 running attempt at most (`running` under `[tenants.acme.quotas]`)";
    let plain = run(&[]);
    assert_eq!((plain.status, plain.stderr.matches(said).count()), (0, 1), "{plain:?}");
    let events = run(&["--events"]).json_lines();
    let waits: Vec<_> = events.iter().filter(|event| event["type"] == "run.waiting").collect();
    let [waits] = waits.as_slice() else { panic!("{waits:?}") };
    assert_eq!(waits["data"], serde_json::json!({ "for": "quota", "tenant": "acme", "running": 1 }));
    bench.write("wide.yaml", wide("other", 3));
    assert!(!run(&[]).stderr.contains("quota"));
}

/// R-L13: whose a run is shows where there are several, and those of one can be asked for.
#[test]
fn a_list_tells_namespaces_apart() {
    let bench = Bench::new();
    for namespace in ["acme", "acme", "other"] {
        bench.write("wide.yaml", wide(namespace, 1));
        assert_eq!(bench.phasm(&["run", "wide.yaml", "--store", "runs.db"]).status, 0);
    }
    let list = |more: &[&str]| bench.phasm(&[&["list", "--store", "runs.db"], more].concat());
    let all = list(&[]);
    assert!(all.stdout.starts_with("RUN ") && all.stdout.contains("NAMESPACE"), "{all:?}");
    let count =
        |ran: &crate::bench::Ran, text: &str| ran.stdout.lines().filter(|line| line.contains(text)).count();
    assert_eq!([count(&all, " acme "), count(&all, " other ")], [2, 1], "{all:?}");
    let acme = list(&["--namespace", "acme"]);
    assert_eq!((count(&acme, "ended"), count(&acme, "NAMESPACE")), (2, 0), "{acme:?}");
    let other = list(&["--namespace", "other", "--json"]).json();
    let [run] = other.as_array().unwrap().as_slice() else { panic!("{other}") };
    assert_eq!(run["namespace"], "other");
    assert!(list(&["--namespace", "absent"]).stderr.contains("no matching runs"));
}

/// R-Q10: a store knows the tenants of its server, and reports them where no configuration names them.
#[cfg(unix)]
#[test]
fn whoever_names_no_configuration_is_judged_or_warned() {
    let bench = Bench::new();
    bench.write("wide.yaml", wide("acme", 1));
    bench.write("phasm.toml", "[tenants.acme.quotas]\nopen-runs = 1\nrunning = 1\n");
    let submit = || bench.phasm(&["submit", "wide.yaml", "--store", "runs.db"]);
    let serve = |config: &[&str]| {
        let mut host = Running::start(&bench, &[&["serve", "--store", "runs.db"][..], config].concat());
        host.until(&["serving"]);
        host.signal(Signal::TERM);
        host.end();
    };
    serve(&["--config", "phasm.toml"]);
    assert_eq!(submit().status, 0);
    let refused = submit();
    assert!(
        refused.status == 2
            && refused.stderr.contains("tenant `acme` has 1 runs that have not ended, of at most 1"),
        "{refused:?}"
    );
    let recover = |more: &[&str]| bench.phasm(&[&["recover", "--store", "runs.db"], more].concat());
    let warned = recover(&[]);
    let says = "warning: this store is served with a configuration that knows tenants (acme), and no configuration is named here";
    assert!(warned.status == 0 && warned.stderr.contains(says), "{warned:?}");
    assert!(!recover(&["--config", "phasm.toml"]).stderr.contains("tenants"));
    bench.write("none.toml", "");
    serve(&["--config", "none.toml"]);
    assert!(!recover(&[]).stderr.contains("tenants"));
}
