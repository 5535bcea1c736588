//! Legal edges (R-P2), and from code to phase (R-C1, R-C2).

use phasm_engine::{
    event::Event,
    outcome::{Outcome, phase_of},
    phase::{Phase, TaskKind},
};
use phasm_tests::small::{self, Answers, work};
use proptest::{option, prelude::*};
use serde_json::{Value as Json, json};

const TERMINAL: &str = "Succeeded Failed Error Timeout Skipped Cancelled";
const TERMINAL_BUT_SKIPPED: &str = "Succeeded Failed Error Timeout Cancelled";

/// R-P2, word for word.
fn targets(kind: TaskKind, from: Phase) -> String {
    match (kind, from) {
        (TaskKind::Leaf, Phase::Created) => "Ready Skipped Cancelled Error".to_owned(),
        (TaskKind::Leaf, Phase::Ready) => {
            "Running Created Succeeded Failed Error Timeout Cancelled".to_owned()
        }
        (TaskKind::Leaf, Phase::Running) => {
            "Suspended Created Succeeded Failed Error Timeout Cancelled".to_owned()
        }
        (TaskKind::Leaf, Phase::Suspended) => {
            "Running Created Succeeded Failed Error Timeout Cancelled".to_owned()
        }
        (TaskKind::Container | TaskKind::Wrapper, Phase::Created) => format!("Ready {TERMINAL}"),
        (TaskKind::Container, Phase::Ready) => format!("Running {TERMINAL_BUT_SKIPPED}"),
        (TaskKind::Container, Phase::Running) => TERMINAL_BUT_SKIPPED.to_owned(),
        (TaskKind::Wrapper, Phase::Ready) => format!("Created Running {TERMINAL_BUT_SKIPPED}"),
        (TaskKind::Wrapper, Phase::Running) => format!("Created {TERMINAL_BUT_SKIPPED}"),
        (TaskKind::Container | TaskKind::Wrapper, Phase::Suspended) => String::new(),
        (
            _,
            Phase::Succeeded
            | Phase::Failed
            | Phase::Error
            | Phase::Timeout
            | Phase::Skipped
            | Phase::Cancelled,
        ) => String::new(),
    }
}

#[test]
fn exactly_the_legal_edges_are_legal() {
    for kind in [TaskKind::Leaf, TaskKind::Container, TaskKind::Wrapper] {
        for from in Phase::ALL {
            let targets = targets(kind, from);
            for to in Phase::ALL {
                let legal = targets.split(' ').any(|word| word == to.as_str());
                assert_eq!(from.may_become(to, kind), legal, "{kind:?}: {from} -> {to}");
            }
        }
    }
}

/// A condition, as documents may write it.
#[derive(Clone, Copy, Debug)]
enum Condition {
    Always,
    Never,
    CodeIs(i32),
    CodeBelow(i32),
    SelfCodeIs(i32),
    TemplateCodeIs(i32),
    PhaseIs(Phase),
    MessageIs(&'static str),
    OutputIs(i32),
    Null,
    NotBoolean,
    Fails,
}

impl Condition {
    fn text(self) -> String {
        match self {
            Self::Always => "true".to_owned(),
            Self::Never => "not true".to_owned(),
            Self::CodeIs(code) => format!("code == {code}"),
            Self::CodeBelow(code) => format!("code < {code} and retries == 0"),
            Self::SelfCodeIs(code) => format!("tasks.run.code == {code}"),
            Self::TemplateCodeIs(code) => format!("tasks.work.code == {code}"),
            Self::PhaseIs(phase) => format!("tasks.run.phase == '{phase}' && phase == '{phase}'"),
            Self::MessageIs(text) => format!("msg == '{text}' and tasks.run.msg == msg"),
            Self::OutputIs(n) => format!("outputs.n == {n} or tasks.run.outputs.parameters.n == {n}"),
            Self::Null => "outputs.nothing".to_owned(),
            Self::NotBoolean => "code + 1".to_owned(),
            Self::Fails => "outputs.nothing + 1 == 2".to_owned(),
        }
    }

    /// Whether it holds; `None` where it fails.
    fn holds(self, code: i32, message: &str) -> Option<bool> {
        Some(match self {
            Self::Always => true,
            Self::Never | Self::Null => false,
            Self::CodeIs(n) | Self::SelfCodeIs(n) | Self::TemplateCodeIs(n) | Self::OutputIs(n) => code == n,
            Self::CodeBelow(n) => code < n,
            Self::PhaseIs(phase) => table(code) == phase,
            Self::MessageIs(text) => text == message,
            Self::NotBoolean | Self::Fails => return None,
        })
    }
}

/// Seed 001's table; "any other" is Error.
fn table(code: i32) -> Phase {
    let rows = [Phase::Succeeded, Phase::Suspended, Phase::Failed, Phase::Error, Phase::Timeout];
    usize::try_from(code).ok().and_then(|code| rows.get(code)).copied().unwrap_or(Phase::Error)
}

fn code() -> impl Strategy<Value = i32> {
    prop_oneof![6 => -1..7, 1 => any::<i32>()]
}

fn condition(in_template: bool) -> impl Strategy<Value = Condition> {
    prop_oneof![
        1 => Just(Condition::Always),
        2 => Just(Condition::Never),
        4 => code().prop_map(Condition::CodeIs),
        2 => code().prop_map(Condition::CodeBelow),
        3 => code().prop_map(move |n| if in_template { Condition::TemplateCodeIs(n) } else { Condition::SelfCodeIs(n) }),
        2 => prop::sample::select(&Phase::ALL[..]).prop_map(Condition::PhaseIs),
        1 => Just(Condition::MessageIs("no")),
        2 => code().prop_map(Condition::OutputIs),
        1 => Just(Condition::Null),
        1 => Just(Condition::NotBoolean),
        1 => Just(Condition::Fails),
    ]
}

/// succeeded, failed, error, and whether they stand in the template.
fn conditions() -> impl Strategy<Value = (bool, [Option<Condition>; 3])> {
    any::<bool>().prop_flat_map(|in_template| {
        let one = || option::weighted(0.7, condition(in_template));
        (Just(in_template), [one(), one(), one()])
    })
}

/// The phase, and how many conditions failed on the way to it (R-C2).
fn expected(conditions: [Option<Condition>; 3], code: i32, message: &str) -> (Phase, usize) {
    let mut failures = 0;
    for (condition, phase) in conditions.into_iter().zip([Phase::Succeeded, Phase::Failed, Phase::Error]) {
        match condition.map(|condition| condition.holds(code, message)) {
            Some(Some(true)) => return (phase, failures),
            Some(None) => failures += 1,
            Some(Some(false)) | None => {}
        }
    }
    (table(code), failures)
}

fn document(in_template: bool, conditions: [Option<Condition>; 3]) -> Vec<Json> {
    let written = ["succeeded", "failed", "error"].into_iter().zip(conditions);
    let written: Json = written.filter_map(|(key, c)| Some((key.to_owned(), json!(c?.text())))).collect();
    let mut template = work();
    let mut task = json!({ "name": "run", "template": "work" });
    let place = if in_template { &mut template["task"] } else { &mut task };
    place["phaseConditions"] = written;
    vec![template, json!({ "dag": { "name": "main", "tasks": [task] } })]
}

proptest! {
    #[test]
    fn every_code_has_its_phase(code in any::<i32>()) {
        prop_assert_eq!(phase_of(code), table(code));
    }

    /// The first true condition decides, else the table; what fails counts as false and warns; the code is kept.
    #[test]
    fn the_first_true_condition_decides(
        (in_template, conditions) in conditions(), code in code(), message in prop::sample::select(vec!["", "no"])
    ) {
        let plan = small::plan(&document(in_template, conditions)).unwrap_or_else(|p| panic!("{p:#?}"));
        let outputs = vec![phasm_engine::outcome::Output::new("n", i64::from(code))];
        let outcome = Outcome { code, message: message.into(), outputs, ..Outcome::default() };
        let world = small::finished(plan, Answers::new([outcome]));
        let (phase, failures) = expected(conditions, code, message);
        let task = world.task("run").unwrap();
        prop_assert_eq!(task.phase, phase);
        if phase.is_terminal() {
            prop_assert_eq!(task.code, Some(code));
        }
        let warnings = world.journal.iter().flat_map(|(_, events)| events);
        let warnings = warnings.filter(|event| matches!(event, Event::Warning(_))).count();
        prop_assert_eq!(warnings, failures);
        // R-P7, and R-P5: a dag with a suspended task is Running.
        let run = if phase == Phase::Suspended { Phase::Running } else { phase };
        prop_assert_eq!(world.run.phase(), run);
    }
}
