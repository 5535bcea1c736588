//! Every table row and worked number of the four seeds, as rows.

mod seed_000;
mod seed_001;
mod seed_002;
mod seed_003;

use phasm_engine::{event::Reason, outcome::Outcome, phase::Phase, time::Millis};
use phasm_tests::{
    small::{self, Answers},
    world::{Script, World},
};
use serde_json::{Value as Json, json};

/// Runs a dag with one task `t`, which calls `work` with these fields besides.
fn run_one<S: Script>(fields: &Json, script: S) -> World<S> {
    let mut task = json!({ "name": "t", "template": "work" });
    for (key, value) in fields.as_object().unwrap() {
        task[key] = value.clone();
    }
    let plan = small::dag(&[task]).unwrap_or_else(|problems| panic!("{problems:#?}"));
    small::finished(plan, script)
}

/// How a task ended: phase, reason, attempts.
fn end<S: Script>(world: &World<S>, name: &str) -> (Phase, Option<Reason>, usize) {
    let task = world.task(name).unwrap();
    (task.phase, task.reason, task.attempts.last().map_or(0, |attempt| attempt.number as usize))
}

/// The instant at which the run ended.
fn ended_at<S: Script>(world: &World<S>) -> Millis {
    assert!(world.run.phase().is_terminal(), "{}", world.run.phase());
    world.run.now().since(phasm_engine::time::Timestamp(0))
}

/// An outcome with this message and these outputs.
fn outcome(code: i32, message: &str, outputs: &[(&str, Json)]) -> Outcome {
    let outcome = Outcome { code, message: message.into(), ..Outcome::default() };
    outputs.iter().fold(outcome, |outcome, (name, value)| outcome.output(*name, value.clone()))
}

/// An executor that always returns this code.
fn always(code: i32) -> Answers {
    Answers::codes([code])
}
