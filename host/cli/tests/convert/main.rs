//! `phasm convert` on workflows of other systems: each result is a valid workflow file, and each field is used or reported.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use phasm::{
    engine::{
        plan::{Draft, Executors},
        tree::{Tree, TreeNode},
        value::Value,
    },
    reader,
};
use phasm_convert::{Conversion, Format, convert};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/convert").join(name)
}

/// Returns the sources in a folder, by their names.
fn sources(name: &str) -> Vec<(String, String)> {
    let files = fs::read_dir(folder(name)).unwrap().map(|file| file.unwrap().path());
    let mut found: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
        .map(|path| {
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(path).unwrap())
        })
        .collect();
    found.sort();
    found
}

fn converted(text: &str, format: Format) -> Conversion {
    let tree = reader::read("source.yaml", text).unwrap_or_else(|found| panic!("{found:#?}\n{text}"));
    assert_eq!(Format::of(&tree), Some(format), "{text}");
    convert(&tree, format)
}

fn validate(name: &str, text: &str) -> Result<(), String> {
    let tree = reader::read("result.yaml", text).map_err(|found| format!("{name}: {found:#?}\n{text}"))?;
    let plan = Draft::read(&tree).plan(&Executors::any(), &Value::Null);
    plan.map(|_| ()).map_err(|found| format!("{name}: {found:#?}\n{text}"))
}

/// R-W26: each source is converted to a valid file, whose text and notes are recorded.
#[test]
fn sources_are_converted_to_valid_files() {
    let mut faults = Vec::new();
    for (name, format, least) in [("argo", Format::Argo, 32), ("actions", Format::Actions, 10)] {
        let all = sources(name);
        assert!(all.len() >= least, "{name}: {}", all.len());
        for (file, text) in all {
            let conversion = converted(&text, format);
            faults.extend(validate(&file, &conversion.text).err());
            let golden = folder(name).join(format!("{file}.golden"));
            if env::var_os("PHASM_ACCEPT").is_some() {
                fs::write(&golden, &conversion.text).unwrap();
            }
            let expected = fs::read_to_string(&golden).unwrap_or_default();
            if expected != conversion.text {
                faults.push(format!("{file} differs from its golden file:\n{}", conversion.text));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// Adds a field to every object, and an element to no list; returns the number of fields.
fn sprinkle(tree: &mut Tree) -> usize {
    let span = tree.span;
    match &mut tree.node {
        TreeNode::Object(members) => {
            let mut count: usize = members.iter_mut().map(|(_, value)| sprinkle(value)).sum();
            if let Some((first, _)) = members.first() {
                let mut key = first.clone();
                key.name = "unheardOf".into();
                members.push((key, Tree::new(TreeNode::Bool(true), span)));
                count += 1;
            }
            count
        }
        TreeNode::Array(items) => items.iter_mut().map(sprinkle).sum(),
        TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) | TreeNode::String(_) => 0,
    }
}

/// R-W27: a field that nothing reads is reported, wherever it stands; or it is in the result, as all settings of some work are.
#[test]
fn no_field_is_left_out_in_silence() {
    for (name, format) in [("argo", Format::Argo), ("actions", Format::Actions)] {
        for (file, text) in sources(name) {
            let mut tree = reader::read("source.yaml", &text).unwrap();
            let count = sprinkle(&mut tree);
            let conversion = convert(&tree, format);
            let body: String = conversion
                .text
                .lines()
                .filter(|line| !line.starts_with('#'))
                .map(|line| format!("{line}\n"))
                .collect();
            let kept = body.matches("unheardOf").count();
            let reported = conversion.notes.iter().filter(|note| note.path.ends_with("unheardOf")).count();
            // An object without a counterpart is one note.
            let inside = |note: &&phasm_convert::Note| matches!(note.value.chars().next(), Some('{' | '['));
            let whole = conversion.notes.iter().filter(inside).count();
            assert!(count > 0 && reported > 0, "{file}");
            assert!(
                kept + reported + whole * 8 >= count,
                "{file}: {count} fields, {kept} kept, {reported} reported\n{}",
                conversion.text
            );
        }
    }
}

/// Returns numbers by xorshift, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit).unwrap()).unwrap()
    }
}

/// Replaces values of a source by values of any kind.
fn mangle(tree: &mut Tree, random: &mut Random) {
    const TEXTS: [&str; 14] = [
        "",
        "{{",
        "}}",
        "{{=",
        "${{ }}",
        "{{item}}",
        "((((",
        "a && (b",
        "-1",
        "99999999999999999999",
        "\u{202e}\u{7}",
        "'",
        "é",
        "{{tasks.a.outputs.result}} == ",
    ];
    if random.below(12) == 0 {
        let other = match random.below(6) {
            0 => TreeNode::Null,
            1 => TreeNode::Bool(true),
            2 => TreeNode::Number((-3_i64).into()),
            3 => TreeNode::Array(vec![tree.clone(), tree.clone()]),
            4 => TreeNode::Object(Vec::new()),
            _ => TreeNode::String(TEXTS.get(random.below(TEXTS.len())).copied().unwrap_or_default().into()),
        };
        tree.node = other;
    }
    match &mut tree.node {
        TreeNode::Object(members) => {
            if !members.is_empty() && random.below(8) == 0 {
                let at = random.below(members.len());
                let again = members.get(at).unwrap().clone();
                members.push(again);
            }
            members.iter_mut().for_each(|(_, value)| mangle(value, random));
        }
        TreeNode::Array(items) => items.iter_mut().for_each(|value| mangle(value, random)),
        TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) | TreeNode::String(_) => {}
    }
}

/// R-W28: whatever the fields hold, the result is YAML, and nothing panics.
#[test]
fn any_values_are_converted_or_reported() {
    let mut random = Random(0x5eed_cafe_f00d_d00d);
    for (name, format) in [("argo", Format::Argo), ("actions", Format::Actions)] {
        for (file, text) in sources(name) {
            let tree = reader::read("source.yaml", &text).unwrap();
            for _ in 0..60 {
                let mut mangled = tree.clone();
                mangle(&mut mangled, &mut random);
                let conversion = convert(&mangled, format);
                let read = reader::read("result.yaml", &conversion.text);
                assert!(read.is_ok(), "{file}: {read:#?}\n{}", conversion.text);
            }
        }
    }
}

/// R-W28: groups of steps, whose dependencies grow with the square, are bounded; so are notes.
#[test]
fn large_files_stay_bounded() {
    let step = |group: usize, at: usize| format!("{{name: s{group}-{at}, template: w, other: 1}}");
    let group = |group| format!("[{}]", (0..2_000).map(|at| step(group, at)).collect::<Vec<_>>().join(","));
    let text = format!(
        "{{\"apiVersion\": \"argoproj.io/v1alpha1\", spec: {{templates: [{{name: w, container: {{}}}}, {{name: m, steps: [{}, {}]}}]}}}}",
        group(0),
        group(1)
    );
    let conversion = converted(&text, Format::Argo);
    assert!(conversion.text.len() < 10 << 20, "{}", conversion.text.len());
    assert_eq!(conversion.notes.len(), phasm_convert::MAX_NOTES);
    assert!(conversion.more > 1_000, "{}", conversion.more);
}

/// R-W26, R-W28: where the condition on which a dag fails is too long, each failure is one of the dag; circles and long rules are bounded.
#[test]
fn many_tasks_behind_a_failure_stay_bounded() {
    let leaf = |at: usize| format!("{{name: t{at}, template: w, depends: bad}}");
    let chain =
        |at: usize| format!("{{name: c{at}, template: w, depends: \"c{}.Succeeded || c{at}\"}}", at + 1);
    let leaves: Vec<String> = (0..5_000).map(leaf).chain((0..400).map(chain)).collect();
    let long = vec!["bad.Failed"; 4_000].join(" || ");
    let text = format!(
        "{{\"apiVersion\": \"argoproj.io/v1alpha1\", spec: {{templates: [{{name: w, container: {{}}}}, {{name: m, dag: {{tasks: [{{name: bad, \
         template: w}}, {{name: alert, template: w, depends: bad.Failed}}, {{name: long, template: w, depends: \"{long}\"}}, {}]}}}}]}}}}",
        leaves.join(",")
    );
    let conversion = converted(&text, Format::Argo);
    assert!(conversion.text.contains("failed: \"children.failed + children.error + children.timeout > 0\""));
    let said =
        conversion.notes.iter().filter(|note| note.advice.contains("it fails after each failure")).count();
    assert_eq!(said, 1);
    let kept = conversion.notes.iter().find(|note| note.path.ends_with("tasks[2].depends")).unwrap();
    assert!(kept.advice.starts_with("the task waits for the tasks in it"), "{kept:?}");
}

fn phasm(dir: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_phasm"))
        .args(arguments)
        .current_dir(dir)
        .env("XDG_DATA_HOME", dir.join("data-home"))
        .env("PHASM_PLUGINS", Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins"))
        .env_remove("PHASM_CONFIG")
        .env_remove("PHASM_STORE")
        .env_remove("PHASM_SERVER")
        .output()
        .unwrap()
}

/// R-L72: a file without work for executors of one's own runs as it is.
#[test]
fn converted_files_run_to_their_end() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["sleep-and-loop", "parallelism-limit", "parallelism-nested"] {
        let source = folder("argo").join(format!("{name}.yaml"));
        let output = phasm(dir.path(), &["convert", source.to_str().unwrap()]);
        assert!(output.status.success(), "{output:?}");
        let file = dir.path().join("workflow.yaml");
        fs::write(&file, &output.stdout).unwrap();
        let ran = phasm(dir.path(), &["run", "workflow.yaml", "--json"]);
        assert!(ran.status.success(), "{name}: {ran:?}");
        let view: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
        let phases: Vec<_> =
            view["tasks"].as_array().unwrap().iter().map(|task| task["phase"].as_str().unwrap()).collect();
        assert!(
            phases.len() > 3 && phases.iter().all(|phase| ["Succeeded", "Skipped"].contains(phase)),
            "{name}: {phases:?}"
        );
        assert_eq!(phases.contains(&"Skipped"), name == "sleep-and-loop", "{phases:?}");
    }
}

/// R-L72: notes on stderr and status 0; with `--strict` status 1 and no result; with `--json` one object.
#[test]
fn notes_have_a_status_and_a_stream() {
    let dir = tempfile::tempdir().unwrap();
    let source = folder("argo").join("artifacts-volumes.yaml");
    let source = source.to_str().unwrap();
    let output = phasm(dir.path(), &["convert", source]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("spec.serviceAccountName (robot): left out: there are no pods"), "{stderr}");
    assert!(output.stdout.starts_with(b"# yaml-language-server: $schema="));
    let strict = phasm(dir.path(), &["convert", source, "--strict"]);
    assert_eq!((strict.status.code(), strict.stdout.len()), (Some(1), 0), "{strict:?}");
    assert_eq!(String::from_utf8(strict.stderr).unwrap(), stderr);
    let json = phasm(dir.path(), &["convert", source, "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(report["text"].as_str().unwrap().as_bytes(), output.stdout);
    assert_eq!(report["notes"].as_array().unwrap().len(), stderr.lines().count());
    assert_eq!(json.stderr, b"");
    // A file in which nothing is left to do.
    let whole = phasm(
        dir.path(),
        &["convert", folder("argo").join("sleep-and-loop.yaml").to_str().unwrap(), "--strict"],
    );
    assert_eq!((whole.status.code(), whole.stderr.len()), (Some(0), 0), "{whole:?}");
}

/// Runs a converted file, and returns the phase of the run, and those of the tasks of its first dag by their names.
fn outcome(dir: &Path, text: &str) -> (String, Vec<String>) {
    fs::write(dir.join("workflow.yaml"), text).unwrap();
    let ran = phasm(dir, &["run", "workflow.yaml", "--json"]);
    let view: serde_json::Value =
        serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}\n{text}"));
    let tasks = view.get("tasks").unwrap().as_array().unwrap().iter();
    let tasks = tasks.filter(|task| task["phase"] == "Succeeded" || task["phase"] == "Skipped");
    let mut ended: Vec<_> = tasks
        .map(|task| format!("{} {}", task["taskName"].as_str().unwrap(), task["phase"].as_str().unwrap()))
        .collect();
    ended.sort();
    (view.get("phase").unwrap().as_str().unwrap().to_owned(), ended)
}

/// R-W26: a run of Argo Workflows that fails also fails here: the dag has the end of its last tasks, and one that is left out that of the
/// tasks before it. `bad` fails, `no` is skipped, all other tasks succeed.
#[test]
fn a_failure_in_argo_is_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    for (tasks, fails, ended) in [
        // No dependent asks for the failure.
        ("d: bad.Succeeded || bad.Skipped", true, ""),
        ("d: bad", true, ""),
        ("d: (bad.Succeeded || bad.Skipped) && one && two && three", true, ""),
        ("d: !bad.Failed", true, ""),
        // The failure is asked for, and another last task is left out because of it.
        ("deploy: bad, alert: bad.Failed", true, "alert Succeeded, deploy Skipped"),
        (
            "deploy: bad, smoke: deploy, alert: bad.Failed",
            true,
            "alert Succeeded, deploy Skipped, smoke Skipped",
        ),
        (
            "deploy?: bad, smoke: deploy, alert: bad.Failed",
            true,
            "alert Succeeded, deploy Skipped, smoke Skipped",
        ),
        (
            "deploy?: bad, smoke: deploy.Skipped, alert: bad.Failed",
            true,
            "alert Succeeded, deploy Skipped, smoke Skipped",
        ),
        ("alert?: bad.Failed", true, "alert Skipped"),
        ("x: bad || no.Succeeded", true, "x Skipped"),
        // A last task has dealt with it.
        ("alert: bad.Failed", false, "alert Succeeded"),
        ("alert: bad.Failed || bad.Errored", false, "alert Succeeded"),
        ("x: bad || one", false, "x Succeeded"),
        ("x: !bad.Succeeded && no.Skipped", false, "x Succeeded"),
        ("x: bad.Failed && one && two && three && no", false, "x Succeeded"),
        (
            "deploy: bad, end: deploy.Omitted, alert: bad.Failed",
            false,
            "alert Succeeded, deploy Skipped, end Succeeded",
        ),
        ("x: no.Succeeded, y: x.Omitted, z: bad.Failed", false, "x Skipped, y Succeeded, z Succeeded"),
    ] {
        let mut list: Vec<String> = vec!["{name: bad, template: bad}".to_owned()];
        list.extend(["one", "two", "three"].map(|name| format!("{{name: {name}, template: nap}}")));
        list.push("{name: no, template: nap, when: \"{{workflow.name}} == other\"}".to_owned());
        for task in tasks.split(", ") {
            let (name, depends) = task.split_once(": ").unwrap();
            let (name, when) = match name.strip_suffix('?') {
                Some(name) => (name, ", when: \"{{workflow.name}} == other\""),
                None => (name, ""),
            };
            list.push(format!("{{name: {name}, template: nap, depends: \"{depends}\"{when}}}"));
        }
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {{name: w}}\nspec:\n  entrypoint: main\n  templates:\n    \
             - {{name: main, dag: {{tasks: [{}]}}}}\n    - {{name: nap, suspend: {{duration: 1ms}}}}\n    - {{name: bad, http: {{url: \
             \"http://127.0.0.1:1/\"}}}}\n",
            list.join(", ")
        );
        let conversion = converted(&text, Format::Argo);
        let (phase, all) = outcome(dir.path(), &conversion.text);
        let own = |task: &&String| {
            !["main ", "one ", "two ", "three ", "no "].iter().any(|name| task.starts_with(name))
        };
        let all: Vec<&str> = all.iter().filter(own).map(String::as_str).collect();
        assert_eq!(phase != "Succeeded", fails, "{tasks}: {phase}\n{}", conversion.text);
        assert_eq!(all.join(", "), ended, "{tasks}\n{}", conversion.text);
        let is_tolerated = conversion.text.contains("continueOn");
        assert_eq!(is_tolerated, !ended.is_empty(), "{tasks}\n{}", conversion.text);
    }
}

/// R-W26: a job runs where it would in GitHub Actions: not behind one that was skipped or failed, unless its `if` asks for the ends
/// before it, and a failure of a job stays a failure of the run.
#[test]
fn jobs_are_skipped_as_in_actions() {
    let dir = tempfile::tempdir().unwrap();
    for (jobs, fails, ended) in [
        ("a? false, b a", false, "a Skipped, b Skipped"),
        ("a? false, b a, c b", false, "a Skipped, b Skipped, c Skipped"),
        ("a? github.actor == 'me', b a", false, "a Skipped, b Skipped"),
        ("a? false, b a? always(), c b", false, "a Skipped, b Succeeded, c Skipped"),
        ("a? false, b a? !failure(), c b? always()", false, "a Skipped, b Succeeded, c Succeeded"),
        ("a? false, b a? failure() || needs.a.result == 'skipped'", false, "a Skipped, b Succeeded"),
        ("a, b a? failure(), c a? always()", false, "a Succeeded, b Skipped, c Succeeded"),
        ("a, b a? success(), c a? cancelled()", false, "a Succeeded, b Succeeded, c Skipped"),
        ("a? failure()", false, "a Skipped"),
        (
            "a! , b a, c b? failure(), d a? always(), e a? failure() && inputs.x == ''",
            true,
            "b Skipped, c Succeeded, d Succeeded, e Succeeded",
        ),
        ("a! , b a? !cancelled(), c a? success(), d b", true, "b Succeeded, c Skipped, d Skipped"),
        ("a!~, b a, c a? failure(), d b? always()", false, "b Succeeded, c Skipped, d Succeeded"),
        ("a!~, z! , b z, c b? failure()", true, "b Skipped, c Succeeded"),
    ] {
        let mut text = "on: {workflow_dispatch: {inputs: {x: {}}}}\njobs:\n".to_owned();
        for job in jobs.split(", ") {
            let (head, condition) =
                job.split_once("? ").map_or((job, None), |(head, text)| (head, Some(text)));
            let name = head.get(..1).unwrap();
            let need = head.split(' ').nth(1).filter(|need| !need.is_empty());
            let code = if head.contains('!') { 2 } else { 0 };
            let need = need.map(|need| format!("needs: {need}, ")).unwrap_or_default();
            let excuse = if head.contains('~') { "continue-on-error: true, " } else { "" };
            let condition = condition.map(|text| format!("if: \"{text}\", ")).unwrap_or_default();
            let more = [&*need, excuse, &*condition].concat();
            text.push_str(&format!("  {name}: {{{more}steps: [{{run: exit {code}}}]}}\n"));
        }
        let conversion = converted(&text, Format::Actions);
        // The executor that a user would write.
        let written =
            conversion.text.replace("type: run-script", "type: echo").replace("run: exit ", "code: ");
        let (phase, all) = outcome(dir.path(), &written);
        assert_eq!(phase != "Succeeded", fails, "{jobs}: {phase}\n{written}");
        let own = |task: &&String| task.as_bytes().get(1) == Some(&b' ');
        assert_eq!(
            all.iter().filter(own).map(String::as_str).collect::<Vec<_>>().join(", "),
            ended,
            "{jobs}\n{written}"
        );
    }
}

/// R-W26: a condition without a counterpart is false, and not left away.
#[test]
fn a_condition_that_is_left_out_is_false() {
    for (condition, when) in [
        ("failure()", Some("when: \"false\"")),
        ("failure() || steps.a.outcome == 'failure'", Some("when: \"false\"")),
        ("github.ref == 'x'", Some("when: \"false\"")),
        ("cancelled()", Some("when: \"false\"")),
        ("always()", None),
        ("!cancelled()", None),
        ("${{ success() }}", None),
    ] {
        let text = format!(
            "on: workflow_dispatch\njobs: {{j: {{steps: [{{id: a, run: x}}, {{if: \"{condition}\", run: y}}]}}}}\n"
        );
        let conversion = converted(&text, Format::Actions);
        let found = conversion.text.lines().find(|line| !line.starts_with('#') && line.contains("when:"));
        assert_eq!(found.map(str::trim), when, "{condition}\n{}", conversion.text);
        let noted = conversion.notes.iter().any(|note| note.path.ends_with(".if"));
        assert_eq!(noted, condition != "${{ success() }}", "{condition}\n{}", conversion.text);
    }
}

/// R-W26: a file of a system that is not converted is refused with those that are; an event that loses nothing has no note.
#[test]
fn files_of_other_systems_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (text, system) in [
        ("version: 2.1\njobs: {build: {docker: [{image: x}], steps: [checkout, {run: make}]}}\n", "CircleCI"),
        ("jobs: {build: {machine: true, steps: [checkout]}}\n", "CircleCI"),
        ("version: 2\njobs: {build: {steps: [checkout]}}\nworkflows: {all: {jobs: [build]}}\n", "CircleCI"),
        ("stages: [a]\nbuild: {stage: a, script: [make]}\n", "GitLab CI"),
        ("image: x\nbuild: {script: make}\n", "GitLab CI"),
        ("services: {web: {image: nginx}}\n", "Compose"),
        ("trigger: [main]\njobs: [{job: a, steps: [{script: make}]}]\n", "Azure Pipelines"),
        ("apiVersion: tekton.dev/v1\nkind: Pipeline\n", "`apiVersion: tekton.dev/v1`"),
    ] {
        fs::write(dir.path().join("other.yaml"), text).unwrap();
        let ran = phasm(dir.path(), &["convert", "other.yaml"]);
        let stderr = String::from_utf8(ran.stderr).unwrap();
        assert_eq!((ran.status.code(), ran.stdout.len()), (Some(2), 0), "{text}: {stderr}");
        let said = format!("it seems to be a file of {system}; convert reads files of Argo Workflows");
        assert!(stderr.contains(&said), "{text}: {stderr}");
    }
    // A file of its own keeps its problems.
    fs::write(dir.path().join("own.yaml"), "kind: Workflow\nspec: {}\n").unwrap();
    let ran = phasm(dir.path(), &["convert", "own.yaml"]);
    assert!(String::from_utf8(ran.stderr).unwrap().contains("P013"));
    for on in ["workflow_dispatch", "[workflow_dispatch]", "{workflow_dispatch: }"] {
        let text = format!("on: {on}\njobs: {{a: {{steps: [{{run: x}}]}}}}\n");
        let notes = converted(&text, Format::Actions).notes;
        assert!(notes.iter().all(|note| !note.path.starts_with("on")), "{on}: {notes:?}");
    }
}
