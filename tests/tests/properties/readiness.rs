//! Which tasks of a dag run, and what its containers become (R-S1 to R-S4): random dags through the engine against an
//! oracle that computes instants.
//!
//! With slots for everything a task starts when the last of its dependencies ends. Every leaf takes a time of its own, a
//! power of two, so that no two ends coincide unless one follows from the other.

mod generate;
mod oracle;

use std::collections::BTreeMap;

use phasm_engine::{
    event::{Dispatch, Reason},
    outcome::Outcome,
    phase::Phase,
    value::Map,
};
use phasm_tests::{
    small,
    world::{Act, Script, World, check_cut},
};
use proptest::prelude::*;

use generate::{Leaf, Scope, Work, scope};
use oracle::{End, Expected};

/// Play of each leaf, by name.
struct Leaves(BTreeMap<String, (Leaf, u64)>);

impl Leaves {
    fn of(scope: &Scope) -> Self {
        let mut leaves = BTreeMap::new();
        scope.each_task(&mut |task| {
            if let Work::Leaf(leaf) = &task.work {
                leaves.insert(task.name(), (*leaf, task.takes()));
            }
        });
        Self(leaves)
    }
}

impl Script for Leaves {
    fn act(&mut self, _path: &str, dispatch: &Dispatch) -> Act {
        let (leaf, takes) = self.0[dispatch.task_name.as_ref()];
        let outcome = Outcome { code: leaf.code().unwrap_or_default(), ..Outcome::default() };
        Act { start_after: 0, takes: leaf.code().map(|_| takes), outcome }
    }
}

/// How every task run ended, by path, and whether its work was dispatched.
fn ends(world: &World<Leaves>) -> BTreeMap<String, End> {
    let end = |task: &phasm_engine::run::TaskRun| End {
        phase: task.phase,
        reason: task.reason,
        dispatched: task.dispatched_at.is_some(),
    };
    world.run.tasks().iter().map(|task| (world.run.path(task), end(task))).collect()
}

fn run(scope: &Scope, slots: u32) -> World<Leaves> {
    let plan = small::plan(&scope.templates()).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let mut world = World::submit(plan, Map::new(), slots, Leaves::of(scope), false);
    world.finish();
    world
}

fn check(scope: &Scope, slots: u32) -> Result<(), TestCaseError> {
    let world = run(scope, slots);
    let Expected { ends: expected, finished } = oracle::expect(scope);
    prop_assert_eq!(ends(&world), expected);
    if slots == u32::MAX {
        prop_assert_eq!(world.run.now().0, i64::try_from(finished).unwrap());
    }
    let replayed = check_cut(world.run.plan(), &world, world.journal.len());
    prop_assert_eq!(replayed, Ok(()));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// A `when` that fails takes no time, so that it could coincide with a start; the dags below have such.
    #[test]
    fn dags_end_as_the_rules_say(scope in scope(false)) {
        check(&scope, u32::MAX)?;
    }

    /// Without `failFast` nothing depends on who was faster: any number of slots gives the same.
    #[test]
    fn slots_change_no_end_of_a_dag_that_does_not_fail_fast(scope in scope(true), slots in 1..4_u32) {
        let mut scope = scope;
        scope.fail_slow();
        check(&scope, slots)?;
    }
}

/// The oracle itself on one dag that a reader can follow: `t0` fails at 1 ms, when `t1` runs and `t2` waits.
#[test]
fn the_oracle_by_hand() {
    let leaf = |position: usize, leaf: Leaf, dependencies: Vec<usize>| generate::Task {
        number: position,
        work: Work::Leaf(leaf),
        dependencies,
        continue_on: None,
        when: None,
    };
    let tasks =
        vec![leaf(0, Leaf::Code(2), vec![]), leaf(1, Leaf::Code(0), vec![]), leaf(2, Leaf::Code(0), vec![1])];
    let scope = Scope { tasks, fail_fast: true, continue_on: None };
    let Expected { ends, finished } = oracle::expect(&scope);
    let ended = |name: &str| (ends[name].phase, ends[name].reason, ends[name].dispatched);
    assert_eq!(ended("main/t0"), (Phase::Failed, None, true));
    assert_eq!(ended("main/t1"), (Phase::Succeeded, None, true));
    assert_eq!(ended("main/t2"), (Phase::Cancelled, Some(Reason::ScopeFailed), false));
    assert_eq!(ended("main"), (Phase::Failed, None, true));
    assert_eq!(finished, 2);
}
