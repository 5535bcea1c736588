//! Every kind of problem: `problems/<code>.yaml` has it, and says where in comments `#: ` at its end.
//!
//! A document has problems of its own code only: what follows from a mistake is not reported again. With `PHASM_ACCEPT=1`
//! the tests rewrite these comments; read the difference.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use phasm_engine::{
    expr::Env,
    plan::{Draft, ExecutorResolution, Executors, PinnedExecutor, bind_arguments},
    problem::codes,
    value::Value,
};

use super::*;

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "src", "reader", "tests", "problems"].iter().collect()
}

/// Starts a line of the problems that a document should have.
const EXPECTED: &str = "#: ";

/// Splits a file into the document and the lines of its problems.
fn document_and_problems(path: &Path) -> (String, String) {
    let text = fs::read_to_string(path).unwrap();
    let (problems, document): (Vec<&str>, Vec<&str>) =
        text.split_inclusive('\n').partition(|line| line.starts_with(EXPECTED));
    (document.concat(), problems.concat().replace(&format!("\n{EXPECTED}"), "\n").replacen(EXPECTED, "", 1))
}

/// The codes that have a document, and the problems found in it.
fn documents() -> Vec<(String, Vec<Problem>)> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    paths.sort();
    let code = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    paths.iter().map(|path| (code(path), findings(path))).collect()
}

/// The problems of the document at `path`; else of the parameters beside it (`.json`), which a run of it is given; else its
/// warnings.
fn findings(path: &Path) -> Vec<Problem> {
    let (text, _) = document_and_problems(path);
    // A missing executor is a warning to `validate`, and a problem to `run`.
    let missing_allowed = path.file_stem().is_some_and(|code| !code.to_string_lossy().starts_with("P07"));
    let plan = match read("test.yaml", &text).and_then(|tree| {
        let draft = Draft::read(&tree);
        let executors = operator(&draft, missing_allowed);
        draft.plan(&executors, &Value::Null)
    }) {
        Ok(plan) => plan,
        Err(problems) => return problems,
    };
    let Ok(given) = fs::read_to_string(path.with_extension("json")) else { return plan.warnings };
    let given = Value::from_json(&given).unwrap().as_object().unwrap().clone();
    bind_arguments(&plan, &given, &Nothing).unwrap_err().into()
}

/// An operator who allows 64 MiB and has a few plugins, of which `faulty` has unusable defaults.
fn operator(draft: &Draft, missing_allowed: bool) -> Executors {
    let defaults = read("manifest.json", r#"{"retry": "often", "maxRuntime": "5s"}"#).unwrap().to_value();
    let defaults = defaults.as_object().unwrap().clone();
    let names = ["echo", "faulty", "http"];
    let stands_for = |executor_type: &str| match executor_type {
        "faulty" => ExecutorResolution::Executor(Box::new(PinnedExecutor::with_defaults(defaults.clone()))),
        "count" => ExecutorResolution::Executor(Box::new(count())),
        "ask" => {
            let settings = ["rejection", "approvers", "notBy"].map(Into::into).into();
            let asks = PinnedExecutor { suspends: true, settings, ..PinnedExecutor::default() };
            ExecutorResolution::Executor(Box::new(asks))
        }
        "render" => ExecutorResolution::Executor(Box::new(render())),
        "broken" => ExecutorResolution::Broken("plugin `broken`: no component".into()),
        known if names.contains(&known) => ExecutorResolution::Executor(Box::default()),
        _ => ExecutorResolution::Unknown,
    };
    let executors = Executors::any().installed(names.map(Arc::from).into()).memory(64 << 20);
    let types = draft.executor_types();
    types
        .into_iter()
        .fold(executors, |all, name| {
            let found = stands_for(&name);
            all.with(name, found)
        })
        .allow_missing(missing_allowed)
}

/// An executor whose manifest says what it takes and returns.
fn count() -> PinnedExecutor {
    let schema = |json: &str| Value::from_json(json).unwrap();
    PinnedExecutor {
        inputs: schema(
            r#"{"type": "object", "required": ["dir"], "additionalProperties": false, "properties": {
                "dir": {"type": "string"}, "top": {"type": ["integer", "null"], "minimum": 1},
                "skip": {"type": ["array", "null"], "items": {"type": "string"}}}}"#,
        ),
        outputs: schema(
            r#"{"type": "object", "additionalProperties": false, "properties": {"words": {"type": "integer"}}}"#,
        ),
        ..PinnedExecutor::default()
    }
}

/// An executor that takes inputs of any name, and knows some.
fn render() -> PinnedExecutor {
    let inputs = r#"{"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}, "title": {}}}"#;
    PinnedExecutor { inputs: Value::from_json(inputs).unwrap(), ..PinnedExecutor::default() }
}

/// Sees nothing but null.
struct Nothing;

impl Env for Nothing {
    fn get(&self, _: &[Arc<str>]) -> Value {
        Value::Null
    }
}

#[test]
fn every_document_has_exactly_the_problems_it_should() {
    let update = std::env::var_os("PHASM_ACCEPT").is_some();
    let mut wrong = Vec::new();
    for (code, problems) in documents() {
        let found = lines(&problems).join("\n") + "\n";
        let path = folder().join(format!("{code}.yaml"));
        if update {
            let (document, _) = document_and_problems(&path);
            let problems: String = found.lines().map(|line| format!("{EXPECTED}{line}\n")).collect();
            fs::write(&path, [document, problems].concat()).unwrap();
        }
        let (_, expected) = document_and_problems(&path);
        if found != expected {
            wrong.push(format!("{code}\nexpected\n{expected}found\n{found}"));
        }
        let foreign: Vec<_> = problems.iter().filter(|problem| problem.code != code).collect();
        assert!(foreign.is_empty() && !problems.is_empty(), "{code}: {foreign:#?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// R-W2.
#[test]
fn ten_mistakes_are_ten_problems() {
    let text = "\
apiVersion: aether/v1
kind: Workflow
metadata: {name: Nightly Audit}
spec:
  entrypoint: main
  templates:
  - dag:
      name: main
      timeout: 1.5h
      tasks:
      - {name: fetch, template: fech}
      - name: parse
        template: work
        dependencies: [fetch, fetch]
        retry: {limit: 2, maxAttempts: 3}
        when: tasks.fetch.phase = 'Succeeded'
      - {name: report, template: work, dependencies: [prase]}
      - name: mail
        executor: {type: echo, config: {text: \"{{ tasks.report.msg }}\"}}
        timout: 5s
      - {name: store, executor: {type: echo}, continueOn: {failed: 1}}
  - task: {name: work, executor: {type: echo}}
";
    let found = lines(&plan(text).unwrap_err());
    let places: Vec<_> = found.iter().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(
        places,
        [
            "P019 3:18 metadata.name",
            "P030 9:16 spec.templates[0].dag.timeout",
            "P020 11:33 spec.templates[0].dag.tasks[0].template",
            "P021 14:31 spec.templates[0].dag.tasks[1].dependencies[1]",
            "P032 15:16 spec.templates[0].dag.tasks[1].retry",
            "P040 16:33 spec.templates[0].dag.tasks[1].when",
            "P022 17:55 spec.templates[0].dag.tasks[2].dependencies[0]",
            "P042 19:51 spec.templates[0].dag.tasks[3].executor.config.text",
            "P011 20:9 spec.templates[0].dag.tasks[3].timout",
            "P010 21:68 spec.templates[0].dag.tasks[4].continueOn.failed",
        ],
        "{found:#?}"
    );
}

/// R-N5: what is printed instead of NoETL's legacy retry can be taken as it is.
#[test]
fn the_rules_printed_for_legacy_retry_are_valid() {
    for (condition, expected) in [
        ("{{ status_code >= 500 }}", "outcome.status == 'error' and outcome.http.status >= 500"),
        (
            "status_code == 429 or status_code >= 500",
            "and (outcome.http.status == 429 or outcome.http.status >= 500)",
        ),
        (r#"{{ error.kind == \"x\" }}"#, r#"error.kind == \"x\""#),
    ] {
        let document = |fields: &str| {
            format!(
                "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{name: x}}\nspec:\n  entrypoint: main\n  templates:\n  \
                 - task:\n      name: main\n      executor: {{type: echo}}\n      {}\n",
                fields.replace('\n', "\n      ")
            )
        };
        let legacy = format!("retry: {{max_attempts: 5, retry_when: \"{condition}\"}}");
        let problems = plan(&document(&legacy)).unwrap_err();
        let hint = problems[0].hint.as_ref().unwrap();
        assert!(hint.contains(expected), "{hint}");
        // `error` is no name of ours: the condition is kept as it is, and reported.
        let found = plan(&document(hint.strip_prefix("write\n").unwrap()));
        match found {
            Ok(plan) => assert_eq!(plan.warnings, []),
            Err(problems) => {
                assert!(condition.contains("error") && problems[0].code == "P041", "{problems:#?}");
            }
        }
    }
}

/// Problems of files that are no document (`files.rs`), of lists that are cut (`bounds.rs`), of endpoints that a host has
/// (`notify`), and of plugins that are not built (`cli/validate.rs`).
const TESTED_ELSEWHERE: [&str; 6] = ["P000", "P006", "P007", "P076", "W000", "W026"];

#[test]
fn every_code_is_tested_and_explained() {
    let documented: BTreeSet<String> = documents().into_iter().map(|(code, _)| code).collect();
    let explained: BTreeSet<String> = codes::all().map(|entry| entry.code.to_owned()).collect();
    let elsewhere = TESTED_ELSEWHERE.map(str::to_owned).into();
    assert_eq!(documented, &explained - &elsewhere);
}
