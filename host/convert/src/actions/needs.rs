//! Order of jobs: `needs`, and `if` with the ends of the jobs before.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use crate::{ANY_FAILURE, expression::hyphenated, fields::Field};

use super::{Place, is_excused};

/// Jobs before one whose ends are asked for at most.
const MAX_BEFORE: usize = 100;
/// Bytes of a condition that is written.
const MAX_CONDITION: usize = 9_000;

/// Advice for a condition without a counterpart.
pub(super) const FALSE: &str = "write `when`, or a hook `onFailure` or `onExit` for work after a failure; until then `when` is false, and it does not run";
const CANCELLED: &str =
    "a cancelled run begins no more work, so `cancelled()` is false: write a hook `onExit`";

/// Functions of an `if` that ask for the end of the work before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Status {
    /// Set when there is one, so that `success()` is not meant.
    is_asked: bool,
    /// Set when the condition can hold behind a failure.
    pub(super) is_behind_failures: bool,
    /// Set when the condition always holds, but for a cancelled run.
    pub(super) is_always: bool,
    asks_for_cancel: bool,
}

impl Status {
    pub(super) fn of(text: &str) -> Self {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let has = |name: &str| text.contains(name);
        let is_behind_failures =
            has("always()") || has("failure()") || has("cancelled()") || has("!success()");
        Self {
            is_asked: is_behind_failures || has("success()"),
            is_behind_failures,
            is_always: ["always()", "!cancelled()", "success()", "true"].contains(&text.as_str()),
            asks_for_cancel: text.replace("!cancelled()", "").contains("cancelled()"),
        }
    }
}

/// Returns an `if` without `${{ }}`.
pub(super) fn inside(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix("${{").and_then(|text| text.strip_suffix("}}")).unwrap_or(text)
}

/// Leaves `always()` away where more is asked for.
pub(super) fn short(condition: String) -> String {
    condition.strip_prefix("true && ").map(ToOwned::to_owned).unwrap_or(condition)
}

/// A job in the order.
#[derive(Clone, Debug, Default)]
pub(super) struct Job {
    /// Names of the tasks that it waits for.
    pub(super) after: Vec<String>,
    pub(super) when: Option<String>,
    /// Set when a job behind it runs after its failure, which is still a failure of the run.
    pub(super) is_tolerated: bool,
}

/// Order of all jobs.
pub(super) struct Order {
    pub(super) jobs: Vec<Job>,
    /// Condition on which the run fails although each failure in it is tolerated.
    pub(super) failed: Option<String>,
}

/// A job, as those behind it need it.
struct Node {
    name: String,
    needs: Vec<usize>,
    status: Status,
    /// Jobs before it whose ends `failure()` asks for.
    before: BTreeSet<usize>,
    /// Set when its failure is no failure of the run.
    is_excused: bool,
    is_tolerated: bool,
    /// Jobs that have to have succeeded for `success()`.
    successes: BTreeSet<usize>,
    when: Option<String>,
}

impl Order {
    /// Reads the order of jobs; `known` has the names of their tasks.
    pub(super) fn of(jobs: &[(&str, Field<'_>)], known: &Rc<BTreeMap<String, String>>) -> Self {
        let places: BTreeMap<&str, usize> = jobs.iter().enumerate().map(|(at, (id, _))| (*id, at)).collect();
        let name = |id: &str| known.get(id).cloned().unwrap_or_default();
        let mut nodes: Vec<Node> = jobs.iter().map(|(id, job)| node(job, name(id), &places)).collect();
        let mut place = Place { jobs: Rc::clone(known), ..Place::default() };
        let may_run: Vec<bool> =
            jobs.iter().enumerate().map(|(at, (_, job))| tolerate(&mut nodes, at, job, &mut place)).collect();
        for at in sorted(&nodes) {
            let Some((_, job)) = jobs.get(at) else { continue };
            let successes = successes(&nodes, at);
            if let Some(node) = nodes.get_mut(at) {
                node.successes = successes;
            }
            let when = when(&nodes, at, job, may_run.get(at) == Some(&true), &mut place);
            if let Some(node) = nodes.get_mut(at) {
                node.when = when;
            }
        }
        let failed = failed(&nodes);
        let name = |at: &usize| nodes.get(*at).map(|node| node.name.clone());
        let job = |node: &Node| Job {
            after: node.needs.iter().filter_map(name).collect(),
            when: node.when.clone(),
            is_tolerated: node.is_tolerated,
        };
        Self { jobs: nodes.iter().map(job).collect(), failed }
    }
}

fn node(job: &Field<'_>, name: String, places: &BTreeMap<&str, usize>) -> Node {
    let needs = job.get("needs");
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for need in needs
        .iter()
        .flat_map(|needs| if needs.peek().is_some() { vec![needs.clone()] } else { needs.items() })
    {
        match need.peek().and_then(|need| places.get(need.as_str()).copied()) {
            Some(other) => {
                need.used();
                if seen.insert(other) {
                    found.push(other);
                }
            }
            None => need.leave("there is no such job"),
        }
    }
    let text = job.get("if").and_then(|field| field.peek());
    Node {
        name,
        needs: found,
        status: text.map(|text| Status::of(inside(&text))).unwrap_or_default(),
        before: BTreeSet::new(),
        is_excused: is_excused(job),
        is_tolerated: false,
        successes: BTreeSet::new(),
        when: None,
    }
}

/// Tolerates the failures behind which the job can run, and returns whether its condition has a counterpart.
fn tolerate(nodes: &mut [Node], at: usize, job: &Field<'_>, place: &mut Place) -> bool {
    let Some(text) = job.get("if").and_then(|field| field.peek()) else { return true };
    if convert(&text, place, "true", "true").is_none() {
        return false;
    }
    if !nodes.get(at).is_some_and(|node| node.status.is_behind_failures) {
        return true;
    }
    let Some(before) = before(nodes, at) else { return false };
    for other in &before {
        if let Some(node) = nodes.get_mut(*other) {
            node.is_tolerated = !node.is_excused;
        }
    }
    if let Some(node) = nodes.get_mut(at) {
        node.before = before;
    }
    true
}

/// Returns all jobs before one; none if they are too many.
fn before(nodes: &[Node], at: usize) -> Option<BTreeSet<usize>> {
    let mut found = BTreeSet::new();
    let mut open = vec![at];
    while let Some(next) = open.pop() {
        for need in nodes.get(next).into_iter().flat_map(|node| &node.needs) {
            if *need != at && found.insert(*need) {
                open.push(*need);
            }
            if found.len() > MAX_BEFORE {
                return None;
            }
        }
    }
    Some(found)
}

/// Returns the jobs, each behind those that it needs; those in a circle are last.
fn sorted(nodes: &[Node]) -> Vec<usize> {
    let needs: Vec<&[usize]> = nodes.iter().map(|node| node.needs.as_slice()).collect();
    crate::names::sorted(&needs)
}

/// Returns the jobs that have to have succeeded for `success()`: of those that it needs the ones that may end otherwise without an
/// end of the run, and those before them where they run whatever these did.
fn successes(nodes: &[Node], at: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for need in nodes.get(at).into_iter().flat_map(|node| &node.needs) {
        let Some(node) = nodes.get(*need) else { continue };
        if node.is_tolerated || node.when.is_some() {
            found.insert(*need);
        }
        if node.status.is_behind_failures {
            found.extend(&node.successes);
        }
    }
    found
}

/// Returns the condition of a job, or reports it.
fn when(nodes: &[Node], at: usize, job: &Field<'_>, may_run: bool, place: &mut Place) -> Option<String> {
    let node = nodes.get(at)?;
    let named = |at: &usize| nodes.get(*at).map(|node| (node, &node.name));
    let ended_well = |(node, name): (&Node, &String)| {
        if node.is_excused {
            format!("tasks.{name}.phase != 'Skipped'")
        } else {
            format!("tasks.{name}.phase == 'Succeeded'")
        }
    };
    let success: Vec<String> = node.successes.iter().filter_map(named).map(ended_well).collect();
    let success = success.join(" && ");
    let Some(field) = job.get("if").filter(|field| field.peek().is_some()) else {
        if success.len() > MAX_CONDITION {
            job.note("it needs too many jobs that may be skipped for one condition: write `when`; until then it is false, and the job does not run");
            return Some("false".to_owned());
        }
        return (!success.is_empty()).then_some(success);
    };
    let text = field.peek()?;
    let failure: Vec<String> = node
        .before
        .iter()
        .filter_map(named)
        .filter(|(node, _)| !node.is_excused)
        .map(|(_, name)| has_failed(name))
        .collect();
    let failure = failure.join(" || ");
    let converted = if may_run { convert(&text, place, &success, &failure) } else { None };
    let Some(converted) = converted.filter(|text| text.len() + success.len() <= MAX_CONDITION) else {
        field.leave(FALSE);
        return Some("false".to_owned());
    };
    field.used();
    if node.status.asks_for_cancel {
        field.note(CANCELLED);
    }
    match (node.status.is_always, node.status.is_asked) {
        (true, true) if node.status.is_behind_failures => None,
        (true, _) => (!success.is_empty()).then_some(success),
        (false, false) if !success.is_empty() => Some(format!("{success} && ({converted})")),
        (false, _) => Some(short(converted)),
    }
}

/// Converts an `if` with these conditions for `success()` and `failure()`.
fn convert(text: &str, place: &mut Place, success: &str, failure: &str) -> Option<String> {
    let either =
        |text: &str, other: &str| if text.is_empty() { other.to_owned() } else { format!("({text})") };
    hyphenated(inside(text), &mut |path| match path {
        [one] if one == "success()" => Some(either(success, "true")),
        [one] if one == "failure()" => Some(either(failure, "false")),
        path => place.path(path),
    })
}

fn has_failed(name: &str) -> String {
    format!("tasks.{name}.phase in ['Failed', 'Error', 'Timeout']")
}

/// Returns the condition on which the run fails by a failure that is tolerated.
fn failed(nodes: &[Node]) -> Option<String> {
    let tolerated: Vec<String> =
        nodes.iter().filter(|node| node.is_tolerated).map(|node| has_failed(&node.name)).collect();
    if tolerated.is_empty() {
        return None;
    }
    let listed = tolerated.join(" || ");
    let is_counted = listed.len() > MAX_CONDITION || nodes.iter().all(|node| !node.is_excused);
    Some(if is_counted { ANY_FAILURE.to_owned() } else { listed })
}
