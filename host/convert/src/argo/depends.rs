//! Order of tasks: `dependencies`, `depends`, and the groups of steps.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use crate::{ANY_FAILURE, fields::Field, names};

use super::{
    Task,
    rule::{Demand, End, Ends, Rule, names_in, parse},
};

/// Dependencies that are made of groups of steps at most: their number is that of the steps squared.
const MAX_DEPENDENCIES: usize = 100_000;
/// Bytes of a condition that another one contains.
const MAX_INNER: usize = 1_000;
/// Bytes of the condition of a dag, below those of an expression of Phasm.
const MAX_CONDITION: usize = 8_000;
/// Bytes of all parts of it.
const MAX_PARTS: usize = 1 << 20;

const TOLERATED: &str = "this task can begin after a failure, so the task that fails has `continueOn`; `phaseConditions` has the dag fail if a last task is skipped because of the failure";
const UNBOUNDED: &str = "the condition on which the dag fails is too long: it fails after each failure, also after one that another task deals with; write `phaseConditions` on the dag";

/// Tasks that a task waits for, and what follows from their ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Dependencies {
    /// Names in the result.
    pub(super) after: Vec<String>,
    /// Condition on the ends of these tasks; none if all have to end well.
    pub(super) condition: Option<String>,
    /// Failures of this task after which another one begins.
    pub(super) tolerated: Ends,
}

/// Order of the tasks of a dag.
pub(super) struct Order {
    /// Dependencies of each task.
    pub(super) tasks: Vec<Dependencies>,
    /// Condition on which the dag fails although each failure in it is tolerated.
    pub(super) failed: Option<String>,
}

/// A task in the order.
pub(super) struct Node {
    /// Name in the result.
    pub(super) name: String,
    /// Ends of the task that Argo calls Failed.
    pub(super) failures: Ends,
    /// Failures after which its own `continueOn` lets the others go on.
    pub(super) continued: Ends,
    /// Failures that another task asks for.
    pub(super) tolerated: Ends,
    /// Set when it has a `when`.
    has_when: bool,
    rule: Rule,
    /// Tasks that it waits for, by their places.
    after: Vec<usize>,
    /// Condition on the ends of these; none if it always holds.
    pub(super) condition: Option<String>,
}

impl Node {
    /// Returns the ends that the tasks behind it may see.
    pub(super) fn ends(&self) -> Ends {
        let mut ends = self.tolerated.with(End::Succeeded);
        ends = ends.union(self.continued);
        if self.has_when {
            ends = ends.with(End::Skipped);
        }
        if self.condition.is_some() { ends.with(End::Omitted) } else { ends }
    }

    /// Returns the ends that it may have before it is known which failures are tolerated.
    pub(super) fn conceivable(&self) -> Ends {
        let mut ends =
            [End::Succeeded, End::Failed, End::Error].into_iter().fold(Ends::default(), Ends::with);
        if self.has_when {
            ends = ends.with(End::Skipped);
        }
        if self.after.is_empty() { ends } else { ends.with(End::Omitted) }
    }

    /// Returns the condition that holds where the task is skipped by its `when`, and not left out by its `depends`.
    pub(super) fn inner_condition(&self) -> Option<&str> {
        self.condition.as_deref().filter(|condition| condition.len() <= MAX_INNER)
    }
}

/// Returns the order of the tasks of a dag.
pub(super) fn read(tasks: &[(Field<'_>, Rc<[String]>)], known: &BTreeMap<String, Task>) -> Order {
    let mut places = BTreeMap::new();
    for (at, (task, _)) in tasks.iter().enumerate() {
        if let Some(name) = task.get("name").and_then(|name| name.peek()) {
            places.entry(name).or_insert(at);
        }
    }
    let mut left = MAX_DEPENDENCIES;
    let mut nodes = Vec::new();
    for (task, before) in tasks {
        let is_bounded = before.len() <= left;
        if is_bounded {
            left -= before.len();
        } else {
            task.note("the groups have too many steps for a dependency on each; write `dependencies`");
        }
        let rule = rule(task, if is_bounded { before } else { &[] }, &places);
        nodes.push(node(task, rule, known));
    }
    tolerate(&mut nodes, tasks);
    let order = names::sorted(&nodes.iter().map(|node| node.after.as_slice()).collect::<Vec<_>>());
    for at in &order {
        let condition = nodes.get(*at).and_then(|node| node.rule.condition(&nodes));
        if let Some(node) = nodes.get_mut(*at) {
            node.condition = condition;
        }
    }
    let failed = failed(&nodes, &order).unwrap_or_else(|()| {
        if let Some(field) = tasks.iter().find_map(|(task, _)| task.get("depends")) {
            field.note(UNBOUNDED);
        }
        Some(ANY_FAILURE.to_owned())
    });
    let name = |at: &usize| nodes.get(*at).map(|node| node.name.clone());
    let dependencies = |node: &Node| Dependencies {
        after: node.after.iter().filter_map(name).collect(),
        condition: node.condition.clone(),
        tolerated: node.tolerated,
    };
    Order { tasks: nodes.iter().map(dependencies).collect(), failed }
}

fn node(task: &Field<'_>, rule: Rule, known: &BTreeMap<String, Task>) -> Node {
    let own = task.get("name").and_then(|name| name.peek()).and_then(|name| known.get(&name));
    let given = task.get("continueOn");
    let on = |key| {
        given.as_ref().and_then(|given| given.get(key)?.peek()).is_some_and(|text| text.trim() == "true")
    };
    let mut continued = Ends::default();
    for (key, end) in [("failed", End::Failed), ("error", End::Error)] {
        if on(key) {
            continued = continued.with(end);
        }
    }
    let failures = Ends::default().with(End::Failed);
    Node {
        name: own.map(|own| own.name.clone()).unwrap_or_default(),
        // A request that cannot be made is Failed in Argo, and Error here.
        failures: if own.is_some_and(|own| own.result == "body") {
            failures.with(End::Error)
        } else {
            failures
        },
        continued,
        tolerated: Ends::default(),
        has_when: task.get("when").is_some(),
        after: rule.tasks(),
        rule,
        condition: None,
    }
}

/// Reads the rule of one task, and reports parts without a counterpart.
fn rule(task: &Field<'_>, before: &[String], places: &BTreeMap<String, usize>) -> Rule {
    if let Some(field) = task.get("depends")
        && let Some(text) = field.peek()
    {
        if let Some(rule) = parse(&text, places) {
            field.used();
            for (wanted, advice) in [
                (
                    Demand::AnySucceeded,
                    "`AnySucceeded` is left out and read as `Succeeded`: the task begins when all items of the loop succeeded",
                ),
                (
                    Demand::AllFailed,
                    "`AllFailed` is left out and read as `Failed`: the task begins when one item of the loop failed",
                ),
            ] {
                if rule.asks_for(wanted) {
                    field.note(advice);
                }
            }
            return rule;
        }
        let found = names_in(&text, places);
        field.leave(if found.is_empty() {
            "the task waits for nothing now: write `dependencies`, and a `when` that reads `tasks.NAME.phase`"
        } else {
            "the task waits for the tasks in it, and begins when none of them failed: write a `when` that reads `tasks.NAME.phase`"
        });
        return Rule::all_of(found);
    }
    let mut found: Vec<usize> = before.iter().filter_map(|name| places.get(name).copied()).collect();
    for field in task.get("dependencies").iter().flat_map(Field::items) {
        match field.peek().and_then(|name| places.get(&name).copied()) {
            Some(place) => {
                field.used();
                found.push(place);
            }
            None => field.leave("there is no such task"),
        }
    }
    if let Some(field) = task.get("dependencies")
        && field.items().is_empty()
    {
        field.used();
    }
    Rule::all_of(found)
}

/// Marks the failures after which another task can begin.
fn tolerate(nodes: &mut [Node], tasks: &[(Field<'_>, Rc<[String]>)]) {
    let mut found = Vec::new();
    for (node, (task, _)) in nodes.iter().zip(tasks) {
        let mut is_noted = false;
        for at in if node.rule.is_plain() { &[] } else { node.after.as_slice() } {
            for end in [End::Failed, End::Error] {
                if node.rule.may_hold_after(*at, end, nodes) {
                    found.push((*at, end));
                    is_noted = true;
                }
            }
        }
        if is_noted && let Some(field) = task.get("depends") {
            field.note(TOLERATED);
        }
    }
    for (at, end) in found {
        if let Some(node) = nodes.get_mut(at) {
            node.tolerated = node.tolerated.with(end);
        }
    }
}

/// Returns the condition on which a dag fails by a tolerated failure: a last task that did not run has the end of those before it.
///
/// # Errors
/// When the condition is too long.
fn failed(nodes: &[Node], order: &[usize]) -> Result<Option<String>, ()> {
    if nodes.iter().all(|node| node.tolerated.is_empty()) {
        return Ok(None);
    }
    let inner: BTreeSet<usize> = nodes.iter().flat_map(|node| node.after.iter().copied()).collect();
    let mut bad: BTreeMap<usize, Rc<str>> = BTreeMap::new();
    let mut left = MAX_PARTS;
    for at in order {
        let Some(node) = nodes.get(*at) else { continue };
        let inherited: Vec<&str> = if node.may_inherit(nodes) {
            node.after.iter().filter_map(|before| bad.get(before)).map(|text| &**text).collect()
        } else {
            Vec::new()
        };
        let mut own = Vec::new();
        if !node.tolerated.is_empty() {
            own.push(node.tolerated.text(&node.name));
        }
        if !inherited.is_empty() {
            own.push(format!("(tasks.{}.phase == 'Skipped' && {})", node.name, any(&inherited)));
        }
        if own.is_empty() {
            continue;
        }
        let text = any(&own.iter().map(String::as_str).collect::<Vec<_>>());
        left = left.checked_sub(text.len()).filter(|_| text.len() <= MAX_CONDITION).ok_or(())?;
        bad.insert(*at, text.into());
    }
    let last: Vec<&str> = bad.iter().filter(|(at, _)| !inner.contains(at)).map(|(_, text)| &**text).collect();
    let text = match last.as_slice() {
        [] => return Ok(None),
        [one] => one.strip_prefix('(').and_then(|one| one.strip_suffix(')')).unwrap_or(one).to_owned(),
        several => several.join(" || "),
    };
    if text.len() > MAX_CONDITION { Err(()) } else { Ok(Some(text)) }
}

impl Node {
    /// Returns whether the task can be skipped after a failure before it.
    fn may_inherit(&self, nodes: &[Self]) -> bool {
        let [only] = self.after.as_slice() else { return self.has_when || self.condition.is_some() };
        let Some(before) = nodes.get(*only) else { return false };
        let begins = |end| self.rule.may_hold_after(*only, end, nodes);
        let always_begins = before.ends().iter().filter(|end| *end != End::Succeeded).all(begins);
        self.has_when || (self.condition.is_some() && !always_begins)
    }
}

fn any(parts: &[&str]) -> String {
    match parts {
        [one] => (*one).to_owned(),
        several => format!("({})", several.join(" || ")),
    }
}
