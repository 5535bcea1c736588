//! Random dags, nested twice at most, and the documents they are.

use phasm_engine::{phase::Phase, plan::Tolerance};
use phasm_tests::small::work;
use proptest::{collection::vec, option, prelude::*};
use serde_json::{Value as Json, json};

/// A dag.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) tasks: Vec<Task>,
    pub(super) fail_fast: bool,
    /// The default of its tasks.
    pub(super) continue_on: Option<Tolerance>,
}

/// A task of a dag.
#[derive(Clone, Debug)]
pub(super) struct Task {
    /// Unique in the whole document.
    pub(super) number: usize,
    pub(super) work: Work,
    /// Positions in the same dag, all smaller than its own.
    pub(super) dependencies: Vec<usize>,
    pub(super) continue_on: Option<Tolerance>,
    pub(super) when: Option<When>,
}

#[derive(Clone, Debug)]
pub(super) enum Work {
    Leaf(Leaf),
    Dag(Box<Scope>),
}

/// The end of a leaf.
#[derive(Clone, Copy, Debug)]
pub(super) enum Leaf {
    /// Returns it.
    Code(i32),
    /// Hangs until `maxRuntime`, with this `errorOnTimeout` (R-T4).
    Hangs(bool),
    /// `maxAttempts: 0`.
    NeverRuns,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum When {
    Never,
    /// The task's first dependency ended in that phase; true without one.
    FirstIs(Phase),
    /// An expression that fails (R-E3).
    Fails,
}

impl Leaf {
    pub(super) fn code(self) -> Option<i32> {
        if let Self::Code(code) = self { Some(code) } else { None }
    }
}

impl Task {
    pub(super) fn name(&self) -> String {
        format!("t{}", self.number)
    }

    /// Duration of its leaf, in ms.
    pub(super) fn takes(&self) -> u64 {
        1 << self.number
    }

    fn template(&self) -> String {
        if matches!(self.work, Work::Leaf(_)) { "work".to_owned() } else { format!("dag{}", self.number) }
    }

    fn document(&self, siblings: &[Self]) -> Json {
        let name = |position: &usize| siblings[*position].name();
        let dependencies: Vec<String> = self.dependencies.iter().map(name).collect();
        let mut task =
            json!({ "name": self.name(), "template": self.template(), "dependencies": dependencies });
        if let Some(tolerance) = self.continue_on {
            task["continueOn"] = continue_on(tolerance);
        }
        match (self.when, dependencies.first()) {
            (None, _) => {}
            (Some(When::Never), _) => task["when"] = json!("1 == 2"),
            (Some(When::Fails), _) => task["when"] = json!("workflow.name + 1 == 2"),
            (Some(When::FirstIs(phase)), Some(first)) => {
                task["when"] = json!(format!("tasks.{first}.phase == '{phase}'"));
            }
            (Some(When::FirstIs(_)), None) => task["when"] = json!("true"),
        }
        match self.work {
            Work::Leaf(Leaf::Hangs(error)) => {
                task["maxRuntime"] = json!({ "timeout": self.takes(), "errorOnTimeout": error });
            }
            Work::Leaf(Leaf::NeverRuns) => task["retry"] = json!({ "maxAttempts": 0 }),
            Work::Leaf(Leaf::Code(_)) | Work::Dag(_) => {}
        }
        task
    }
}

fn continue_on(Tolerance { failed, error, timeout }: Tolerance) -> Json {
    json!({ "failed": failed, "error": error, "timeout": timeout })
}

impl Scope {
    /// The templates of a document whose `main` this is.
    pub(super) fn templates(&self) -> Vec<Json> {
        let mut templates = vec![work(), self.template("main")];
        self.each_task(&mut |task| {
            if let Work::Dag(scope) = &task.work {
                templates.push(scope.template(&task.template()));
            }
        });
        templates
    }

    fn template(&self, name: &str) -> Json {
        let tasks: Vec<Json> = self.tasks.iter().map(|task| task.document(&self.tasks)).collect();
        let mut dag = json!({ "name": name, "tasks": tasks, "failFast": self.fail_fast });
        if let Some(tolerance) = self.continue_on {
            dag["continueOn"] = continue_on(tolerance);
        }
        json!({ "dag": dag })
    }

    pub(super) fn each_task(&self, each: &mut dyn FnMut(&Task)) {
        for task in &self.tasks {
            each(task);
            if let Work::Dag(scope) = &task.work {
                scope.each_task(each);
            }
        }
    }

    pub(super) fn fail_slow(&mut self) {
        self.fail_fast = false;
        for task in &mut self.tasks {
            if let Work::Dag(scope) = &mut task.work {
                scope.fail_slow();
            }
        }
    }

    /// Numbers all tasks, children after their container.
    fn number(&mut self, next: &mut usize) {
        for task in &mut self.tasks {
            task.number = *next;
            *next += 1;
            if let Work::Dag(scope) = &mut task.work {
                scope.number(next);
            }
        }
    }
}

fn tolerance() -> impl Strategy<Value = Tolerance> {
    any::<[bool; 3]>().prop_map(|[failed, error, timeout]| Tolerance { failed, error, timeout })
}

fn leaf() -> impl Strategy<Value = Leaf> {
    prop_oneof![
        5 => Just(Leaf::Code(0)),
        2 => prop::sample::select(vec![2, 3, 4, 7, -1]).prop_map(Leaf::Code),
        1 => any::<bool>().prop_map(Leaf::Hangs),
        1 => Just(Leaf::NeverRuns),
    ]
}

fn when(fails: bool) -> impl Strategy<Value = When> {
    prop_oneof![
        2 => Just(When::Never),
        3 => prop::sample::select(&Phase::ALL[4..]).prop_map(When::FirstIs),
        1 => Just(if fails { When::Fails } else { When::Never }),
    ]
}

fn dag(works: impl Strategy<Value = Work>, most: usize, fails: bool) -> impl Strategy<Value = Scope> {
    let when = option::weighted(0.2, when(fails));
    let task = (works, any::<u16>(), option::weighted(0.3, tolerance()), when);
    let tasks = vec(task, 1..most);
    (tasks, prop::bool::weighted(0.7), option::weighted(0.3, tolerance())).prop_map(
        |(tasks, fail_fast, continue_on)| {
            let task = |(position, (work, mask, continue_on, when)): (usize, (Work, u16, _, _))| {
                // Every other bit of a random mask: about a quarter of the earlier tasks.
                let depends = |earlier: &usize| mask >> earlier & mask >> ((earlier + 7) % 16) & 1 == 1;
                let dependencies = (0..position).filter(depends).collect();
                Task { number: 0, work, dependencies, continue_on, when }
            };
            Scope { tasks: tasks.into_iter().enumerate().map(task).collect(), fail_fast, continue_on }
        },
    )
}

/// A dag whose tasks are leaves and dags of the same kind, down to two levels; with conditions that fail, or without.
pub(super) fn scope(fails: bool) -> impl Strategy<Value = Scope> {
    let leaves = || leaf().prop_map(Work::Leaf);
    let within = |scope| Work::Dag(Box::new(scope));
    let inner = dag(leaves(), 4, fails).prop_map(within);
    let middle = dag(prop_oneof![3 => leaves(), 1 => inner], 4, fails).prop_map(within);
    let outer = dag(prop_oneof![3 => leaves(), 1 => middle], 8, fails);
    outer.prop_map(|mut scope| {
        scope.number(&mut 0);
        scope
    })
}
