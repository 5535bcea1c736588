//! Order of tasks: `dependencies`, `depends`, and the groups of steps.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use crate::fields::Field;

use super::Task;

/// Dependencies that are made of groups of steps at most: their number is that of the steps squared.
const MAX_DEPENDENCIES: usize = 100_000;

/// Tasks that a task waits for, and what follows from their ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Dependencies {
    /// Names in the result.
    pub(super) after: Vec<String>,
    /// Condition on the ends of these tasks; none if all have to end well.
    pub(super) condition: Option<String>,
    /// Set when another task continues after a failure of this one.
    pub(super) is_tolerated: bool,
}

/// A part of `depends`.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Sign(&'static str),
    /// A task, and the end that is asked for.
    End(String, Option<String>),
}

/// Returns the dependencies of each task.
pub(super) fn read(tasks: &[(Field<'_>, Rc<[String]>)], known: &BTreeMap<String, Task>) -> Vec<Dependencies> {
    let mut left = MAX_DEPENDENCIES;
    let mut bounded = |task: &Field<'_>, before: &[String]| {
        if before.len() > left {
            task.note("the groups have too many steps for a dependency on each; write `dependencies`");
            return Vec::new();
        }
        left -= before.len();
        one(task, before, known)
    };
    let read: Vec<_> = tasks.iter().map(|(task, before)| bounded(task, before)).collect();
    let is_simple =
        |parts: &[Part]| parts.iter().all(|part| matches!(part, Part::Sign("&&") | Part::End(_, None)));
    let has_conditions = read.iter().any(|parts| !is_simple(parts));
    let mut tolerated = BTreeSet::new();
    for parts in read.iter().filter(|parts| !is_simple(parts)) {
        let is_mixed = parts.iter().any(|part| matches!(part, Part::Sign("||" | "!")));
        for part in parts {
            if let Part::End(task, end) = part
                && (is_mixed || !matches!(end.as_deref(), None | Some("Succeeded" | "Skipped" | "Daemoned")))
            {
                tolerated.insert(task.clone());
            }
        }
    }
    let maybe_skipped: BTreeSet<String> = tasks
        .iter()
        .filter(|(task, _)| task.get("when").is_some())
        .filter_map(|(task, _)| task.get("name")?.peek())
        .collect();
    let dependencies = |((task, _), parts): (&(Field<'_>, Rc<[String]>), &Vec<Part>)| {
        let mut after: Vec<String> = Vec::new();
        let mut seen = BTreeSet::new();
        for part in parts {
            if let Part::End(task, _) = part
                && let Some(known) = known.get(task)
                && seen.insert(task)
            {
                after.push(known.name.clone());
            }
        }
        let condition =
            (has_conditions && !parts.is_empty()).then(|| condition(parts, known, &maybe_skipped));
        let own = task.get("name").and_then(|name| name.peek());
        Dependencies { after, condition, is_tolerated: own.is_some_and(|own| tolerated.contains(&own)) }
    };
    tasks.iter().zip(&read).map(dependencies).collect()
}

/// Reads the order of one task, and reports parts without a counterpart.
fn one(task: &Field<'_>, before: &[String], known: &BTreeMap<String, Task>) -> Vec<Part> {
    if let Some(field) = task.get("depends")
        && let Some(text) = field.peek()
    {
        let parts = parts(&text);
        let is_known = |part: &Part| match part {
            Part::Sign(_) => true,
            Part::End(task, end) => {
                known.contains_key(task) && end.as_deref().is_none_or(|end| phase(end).is_some())
            }
        };
        if let Some(parts) = parts.filter(|parts| parts.iter().all(is_known)) {
            field.used();
            if parts.iter().any(|part| matches!(part, Part::Sign("||" | "!") | Part::End(_, Some(_)))) {
                field.note("the ends are asked for in `when`, and tasks whose failure is asked for have `continueOn`: such a failure is no failure of the dag");
            }
            return parts;
        }
        field.leave("the task waits for nothing now: write `dependencies`, and a `when` that reads `tasks.NAME.phase`");
        return Vec::new();
    }
    let mut names: Vec<String> = before.to_vec();
    for field in task.get("dependencies").iter().flat_map(Field::items) {
        match field.peek() {
            Some(name) if known.contains_key(&name) => {
                field.used();
                names.push(name);
            }
            _ => field.leave("there is no such task"),
        }
    }
    if let Some(field) = task.get("dependencies")
        && field.items().is_empty()
    {
        field.used();
    }
    let mut parts = Vec::new();
    for name in names {
        if !parts.is_empty() {
            parts.push(Part::Sign("&&"));
        }
        parts.push(Part::End(name, None));
    }
    parts
}

fn parts(text: &str) -> Option<Vec<Part>> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if let Some(sign) = ["&&", "||", "!", "(", ")"].into_iter().find(|sign| rest.starts_with(sign)) {
            found.push(Part::Sign(sign));
            rest = rest.get(sign.len()..)?;
        } else {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || "-_.".contains(c))).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            if word.is_empty() {
                return None;
            }
            found.push(match word.split_once('.') {
                Some((task, end)) => Part::End(task.to_owned(), Some(end.to_owned())),
                None => Part::End(word.to_owned(), None),
            });
            rest = behind;
        }
        rest = rest.trim_start();
    }
    Some(found)
}

/// Returns the condition on a phase that an end is.
fn phase(end: &str) -> Option<&'static str> {
    Some(match end {
        "Succeeded" => "== 'Succeeded'",
        "Failed" => "in ['Failed', 'Timeout']",
        "Errored" => "== 'Error'",
        "Skipped" | "Omitted" => "== 'Skipped'",
        // No task is a daemon.
        "Daemoned" => "== 'Daemoned'",
        _ => return None,
    })
}

fn condition(parts: &[Part], known: &BTreeMap<String, Task>, maybe_skipped: &BTreeSet<String>) -> String {
    let text = |part: &Part| match part {
        Part::Sign(sign) => (*sign).to_owned(),
        Part::End(task, end) => {
            let phase = match end {
                Some(end) => phase(end).unwrap_or_default(),
                None if maybe_skipped.contains(task) => "in ['Succeeded', 'Skipped']",
                None => "== 'Succeeded'",
            };
            let name = known.get(task).map(|task| task.name.as_str()).unwrap_or_default();
            format!("(tasks.{name}.phase {phase})")
        }
    };
    let all: Vec<String> = parts.iter().map(text).collect();
    match all.as_slice() {
        [one] => one.trim_start_matches('(').trim_end_matches(')').to_owned(),
        all => all.join(" "),
    }
}
