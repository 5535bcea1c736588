//! Plans of runs that exist: assembled from what was recorded, and judged no more (R-I10).

use super::*;
use crate::{
    event::{Event, Facts, Input},
    outcome::Outcome,
    problem::DocumentWarning,
    run::{Run, Submission},
    time::Timestamp,
    value::Map,
};

fn value(templates: &str) -> Value {
    Value::from_json(&document(templates)).unwrap()
}

/// A document that is valid, and what a stricter engine would have of it: the fields in `wrong` are refused today.
const STRICTER: [(&str, &str, &str); 4] = [
    (
        "P011",
        r#""tasks": [{"name": "a", "template": "work"}]"#,
        r#""colour": "red", "tasks": [{"name": "a", "template": "work"}]"#,
    ),
    ("P021", r#""name": "spare""#, r#""name": "main""#),
    ("P041", r#""when": "true""#, r#""when": "loop.index == 0""#),
    ("P050", r#""inputs": {"parameters": []}"#, r#""inputs": {"parameters": [{"name": "dir"}]}"#),
];

const TEMPLATES: &str = r#"{"dag": {"name": "main", "tasks": [{"name": "a", "template": "work"}]}},
    {"dag": {"name": "spare", "tasks": [{"name": "b", "when": "true", "template": "worker"}]}},
    {"task": {"name": "worker", "executor": {"type": "echo"}, "inputs": {"parameters": []}}}"#;

/// A document that today's checks refuse, and whose journal exists, is shown and driven on.
#[test]
fn a_stricter_engine_strands_no_run() {
    let before = value(TEMPLATES);
    let plan = Draft::read(&Tree::from(&before)).plan(&Executors::any(), &Value::Null).unwrap();
    let submission = Submission {
        run_id: "r".into(),
        parameters: Arc::new(Map::new()),
        doubts: Vec::new(),
        facts: Facts::default(),
        secrets: Vec::new(),
        origin: None,
        trace: None,
        by: None,
    };
    let (_, first) = Run::start(Arc::new(plan), submission, Timestamp(0));
    for (code, accepted, refused) in STRICTER {
        let text = TEMPLATES.replace(accepted, refused);
        assert_ne!(text, TEMPLATES, "{code}");
        let document = value(&text);
        let draft = Draft::read(&Tree::from(&document));
        let problems = draft.plan(&Executors::any(), &Value::Null).unwrap_err();
        assert!(!problems.is_empty() && problems.iter().all(|problem| problem.code == code), "{problems:#?}");
        let mut events = first.events.clone();
        let Event::Submitted(submitted) = &mut events[0] else { panic!("{events:?}") };
        submitted.document = (&document).into();
        let again = submitted.plan().unwrap_or_else(|problems| panic!("{code}: {problems:#?}"));
        let mut run = Run::replay(Arc::new(again), [(Timestamp(0), events.as_slice())]).unwrap();
        let _commands = run.step(Timestamp(1), Input::Lent(1));
        let fence = run.tasks()[1].fence();
        let _commands = run.step(Timestamp(2), Input::Finished(fence, Outcome::default()));
        assert!(run.is_over(), "{code}");
    }
}

/// Parts that cannot be read at all are reported.
#[test]
fn a_part_that_cannot_be_read_is_refused() {
    for when in [r#""1 +""#, "7"] {
        let document = value(&TEMPLATES.replace(r#""when": "true""#, &format!(r#""when": {when}"#)));
        let problems =
            Draft::read(&Tree::from(&document)).assemble(&PinnedExecutors::new(), &[]).unwrap_err();
        assert_eq!(problems.len(), 1, "{problems:#?}");
    }
}

/// Documents are not doubted again either: the warnings are those of the submission.
#[test]
fn warnings_are_those_of_the_submission() {
    let document = value(TEMPLATES);
    let draft = || Draft::read(&Tree::from(&document));
    let plan = draft().plan(&Executors::any(), &Value::Null).unwrap();
    assert_eq!(plan.warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), ["W004", "W004"]);
    let noted: Vec<_> = plan.warnings.iter().map(DocumentWarning::from).collect();
    for noted in [noted.as_slice(), &[]] {
        let again = draft().assemble(&plan.executors, noted).unwrap();
        assert_eq!(again.warnings.iter().map(DocumentWarning::from).collect::<Vec<_>>(), noted);
    }
}
