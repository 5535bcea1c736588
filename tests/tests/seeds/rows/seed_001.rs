//! Seed 001, Aether: the phases.

use phasm_engine::{
    event::{Dispatch, Input, Reason},
    outcome::{Outcome, code, phase_of},
    phase::{Phase, TaskKind},
    time::Timestamp,
    value::Map,
};
use phasm_tests::{
    small::{self, Answers, work},
    world::{Act, Script, World},
};
use serde_json::{Value as Json, json};

use super::{always, end, outcome, run_one};

/// The ten constants with their exact strings, in the seed's order, and `IsTerminal()` (R-P3).
#[test]
fn constants() {
    let rows = [
        ("Created", Phase::Created, false),
        ("Ready", Phase::Ready, false),
        ("Running", Phase::Running, false),
        ("Suspended", Phase::Suspended, false),
        ("Succeeded", Phase::Succeeded, true),
        ("Failed", Phase::Failed, true),
        ("Error", Phase::Error, true),
        ("Timeout", Phase::Timeout, true),
        ("Skipped", Phase::Skipped, true),
        ("Cancelled", Phase::Cancelled, true),
    ];
    assert_eq!(rows.map(|(_, phase, _)| phase), Phase::ALL);
    for (word, phase, terminal) in rows {
        assert_eq!((phase.to_string().as_str(), phase.is_terminal()), (word, terminal));
        assert_eq!(serde_json::to_value(phase).unwrap(), json!(word), "the same word in journals and views");
    }
}

/// "Once a task is in a terminal phase, the engine will not transition it again." (R-P3)
#[test]
fn terminal_is_final() {
    for kind in [TaskKind::Leaf, TaskKind::Container, TaskKind::Wrapper] {
        for from in Phase::ALL.into_iter().filter(|phase| phase.is_terminal()) {
            assert!(Phase::ALL.into_iter().all(|to| !from.may_become(to, kind)), "{kind:?} {from}");
        }
    }
}

/// "Created → Ready → Running → (terminal)", "Suspended → (Resume) → Running"; "Only leaf tasks can enter this state".
/// (R-P2)
#[test]
fn drawn_edges() {
    let both = [(Phase::Created, Phase::Ready), (Phase::Ready, Phase::Running)];
    for kind in [TaskKind::Leaf, TaskKind::Container, TaskKind::Wrapper] {
        assert!(both.iter().all(|(from, to)| from.may_become(*to, kind)), "{kind:?}");
        let suspends = kind == TaskKind::Leaf;
        assert_eq!(Phase::Running.may_become(Phase::Suspended, kind), suspends, "{kind:?}");
        assert_eq!(Phase::Suspended.may_become(Phase::Running, kind), suspends, "{kind:?}");
    }
}

/// "ExecCode → Phase mapping", and section 3's column for any other code.
#[test]
fn exec_codes() {
    let rows = [
        (code::SUCCEEDED, 0, Phase::Succeeded),
        (code::SUSPENDED, 1, Phase::Suspended),
        (code::FAILED, 2, Phase::Failed),
        (code::ERROR, 3, Phase::Error),
        (code::TIMEOUT, 4, Phase::Timeout),
        (5, 5, Phase::Error),
        (-1, -1, Phase::Error),
        (i32::MIN, i32::MIN, Phase::Error),
    ];
    for (constant, value, phase) in rows {
        assert_eq!((constant, phase_of(value)), (value, phase), "code {value}");
        let world = run_one(&json!({}), always(value));
        assert_eq!(world.task("t").unwrap().phase, phase, "code {value} through the engine");
    }
}

/// "PhaseSkipped and PhaseCancelled never appear in ExecOutputs": no code gives them.
#[test]
fn no_code_skips_or_cancels() {
    let mut codes = (-1000..1000).chain([i32::MIN, i32::MAX]);
    assert!(codes.all(|code| !matches!(phase_of(code), Phase::Skipped | Phase::Cancelled)));
}

/// "downstream tasks that depend on it are unblocked as if it had succeeded" (R-S1)
#[test]
fn skipped_unblocks() {
    let skipped = json!({ "name": "a", "template": "work", "when": "false" });
    let next = json!({ "name": "b", "template": "work", "dependencies": ["a"] });
    let world = small::finished(small::dag(&[skipped, next]).unwrap(), always(0));
    assert_eq!(end(&world, "a"), (Phase::Skipped, Some(Reason::When), 0));
    assert_eq!((end(&world, "b").0, world.run.phase()), (Phase::Succeeded, Phase::Succeeded));
}

/// "Users cannot set PhaseSkipped via phaseConditions. Attempting to do so is a no-op", Cancelled neither (R-C3).
#[test]
fn reserved_conditions() {
    for key in ["skipped", "cancelled"] {
        let conditions = json!({ key: "true" });
        let plan = small::dag(&[json!({ "name": "t", "template": "work", "phaseConditions": conditions })]);
        let plan = plan.unwrap();
        assert_eq!(plan.warnings.len(), 1, "{key}");
        assert_eq!(small::finished(plan, always(2)).run.phase(), Phase::Failed, "{key}");
    }
}

/// The example: codes 0 and 4 succeed, 1 and 2 fail, anything else stays what it is (R-C2).
#[test]
fn example_conditions() {
    let conditions = json!({
        "succeeded": "tasks.run.code == 0 || tasks.run.code == 4",
        "failed": "tasks.run.code == 1 || tasks.run.code == 2",
    });
    let rows = [
        (0, Phase::Succeeded),
        (1, Phase::Failed),
        (2, Phase::Failed),
        (3, Phase::Error),
        (4, Phase::Succeeded),
        (9, Phase::Error),
    ];
    for (code, phase) in rows {
        let task = json!({ "name": "run", "template": "work", "phaseConditions": conditions });
        let world = small::finished(small::dag(&[task]).unwrap(), always(code));
        let run = world.task("run").unwrap();
        assert_eq!((run.phase, run.code), (phase, Some(code)));
    }
}

/// "in order (succeeded first, then failed, then error) and uses the phase whose condition returns true first" (R-C2)
#[test]
fn order_of_conditions() {
    let rows = [
        (["true", "true", "true"], Phase::Succeeded),
        (["false", "true", "true"], Phase::Failed),
        (["false", "false", "true"], Phase::Error),
        (["false", "false", "false"], Phase::Timeout),
    ];
    for ([succeeded, failed, error], phase) in rows {
        // Written in another order than they are asked in.
        let conditions = json!({ "error": error, "failed": failed, "succeeded": succeeded });
        let world = run_one(&json!({ "phaseConditions": conditions }), always(4));
        assert_eq!(end(&world, "t").0, phase);
    }
}

/// The second of two tasks never gets its turn.
fn first_of_two(continue_on: &Json, code: i32) -> World<OneFails> {
    let first = json!({ "name": "t", "template": "work", "continueOn": continue_on });
    let second = json!({ "name": "u", "template": "work", "dependencies": ["t"] });
    small::finished(small::dag(&[first, second]).unwrap(), OneFails(code))
}

/// Only `t` fails.
struct OneFails(i32);

impl Script for OneFails {
    fn act(&mut self, _path: &str, dispatch: &Dispatch) -> Act {
        let code = if dispatch.task_name.as_ref() == "t" { self.0 } else { 0 };
        Act { start_after: 0, takes: Some(10), outcome: Outcome { code, ..Outcome::default() } }
    }
}

/// "If any task reaches PhaseFailed, PhaseError, or PhaseTimeout without a matching continueOn policy, the container itself
/// transitions to the same phase. Tasks that were not yet dispatched transition to PhaseCancelled." (R-S3, R-S4)
#[test]
fn container_propagation() {
    let rows = [("failed", 2, Phase::Failed), ("error", 3, Phase::Error), ("timeout", 4, Phase::Timeout)];
    for (tolerated, code, phase) in rows {
        for (other, _, _) in rows {
            let world = first_of_two(&json!({ other: true }), code);
            assert_eq!(end(&world, "t").0, phase);
            let matches = other == tolerated;
            let (dag, second) = if matches {
                (Phase::Succeeded, (Phase::Succeeded, None, 1))
            } else {
                (phase, (Phase::Cancelled, Some(Reason::ScopeFailed), 0))
            };
            assert_eq!(
                (world.run.phase(), end(&world, "u")),
                (dag, second),
                "code {code}, continueOn {other}"
            );
        }
    }
}

/// "An inner DAG that fails propagates PhaseFailed to its parent task node, which the outer DAG processes the same way it
/// would any other failed task." (R-S4)
#[test]
fn nested_propagation() {
    for (tolerated, run) in [(false, Phase::Failed), (true, Phase::Succeeded)] {
        let node = json!({ "name": "node", "template": "inner", "continueOn": { "failed": tolerated } });
        let dag = |name: &str, task: &Json| json!({ "dag": { "name": name, "tasks": [task] } });
        let inner = dag("inner", &json!({ "name": "t", "template": "work" }));
        let plan = small::plan(&[work(), inner, dag("main", &node)]).unwrap();
        let world = small::finished(plan, always(2));
        assert_eq!((end(&world, "node").0, world.run.phase()), (Phase::Failed, run));
    }
}

/// Suspended, resumed, merged "(last-writer-wins per parameter)", re-dispatched "with the merged inputs" (R-S9).
#[test]
fn suspend_and_resume() {
    let suspended = outcome(1, "", &[("a", json!(1)), ("b", json!(1)), ("c", json!(1))]);
    let finished = outcome(0, "", &[("c", json!(3))]);
    let arguments = json!({ "parameters": [{ "name": "b", "value": 0 }, { "name": "z", "value": 0 }] });
    let task = json!({ "name": "t", "template": "work", "arguments": arguments });
    let plan = small::dag(&[task]).unwrap();
    let mut world = World::submit(plan, Map::new(), 1, Answers::new([suspended, finished]), false);
    world.finish();
    let id = world.find("t").unwrap();
    assert_eq!((world.task("t").unwrap().phase, world.run.phase()), (Phase::Suspended, Phase::Running));
    let payload = Map::from([("b".into(), 2.into()), ("c".into(), 2.into())]);
    world.at(Timestamp(500), Input::Resumed(id, payload, None));
    world.finish();
    let again = world.dispatched.last().unwrap();
    assert!(again.resumed);
    let inputs: Vec<(&str, String)> =
        again.inputs.iter().map(|input| (input.name.as_ref(), input.value.visible().to_json())).collect();
    for expected in [("b", "2".to_owned()), ("z", "0".to_owned()), ("c", "2".to_owned())] {
        assert!(inputs.contains(&expected), "{inputs:?} lack {expected:?}");
    }
    let outputs: Vec<(&str, String)> =
        world.task("t").unwrap().outputs.iter().map(|o| (o.name.as_ref(), o.value.to_json())).collect();
    assert_eq!(outputs, [("a", "1".to_owned()), ("b", "2".to_owned()), ("c", "3".to_owned())]);
}
