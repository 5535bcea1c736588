//! The rule of `depends`: ends of tasks, joined by `&&`, `||` and `!`.

use std::collections::{BTreeMap, BTreeSet};

use super::depends::Node;

/// Levels of brackets and negations that are read.
const MAX_DEPTH: usize = 32;
/// Tasks whose ends are tried in all combinations: 5 ends each.
const MAX_TRIED: usize = 3;
/// Bytes of a rule that is read.
const MAX_BYTES: usize = 10_000;

/// End of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Succeeded,
    Failed,
    Error,
    /// Its `when` is false.
    Skipped,
    /// Its `depends` is not met.
    Omitted,
}

const ALL: [End; 5] = [End::Succeeded, End::Failed, End::Error, End::Skipped, End::Omitted];

impl End {
    const fn bit(self) -> u8 {
        match self {
            Self::Succeeded => 1,
            Self::Failed => 2,
            Self::Error => 4,
            Self::Skipped => 8,
            Self::Omitted => 16,
        }
    }
}

/// A set of ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ends(u8);

impl Ends {
    pub(super) const fn with(self, end: End) -> Self {
        Self(self.0 | end.bit())
    }

    pub(super) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn has(self, end: End) -> bool {
        self.0 & end.bit() != 0
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn iter(self) -> impl Iterator<Item = End> {
        ALL.into_iter().filter(move |end| self.has(*end))
    }

    /// Returns the condition that a task ended in one of these; an omitted task is skipped.
    pub(super) fn text(self, name: &str) -> String {
        let mut phases = Vec::new();
        for end in self.iter() {
            phases.extend_from_slice(match end {
                End::Succeeded => &["'Succeeded'"][..],
                End::Failed => &["'Failed'", "'Timeout'"],
                End::Error => &["'Error'"],
                End::Skipped | End::Omitted => &["'Skipped'"],
            });
        }
        phases.dedup();
        match phases.as_slice() {
            [] => "false".to_owned(),
            [one] => format!("tasks.{name}.phase == {one}"),
            several => format!("tasks.{name}.phase in [{}]", several.join(", ")),
        }
    }
}

/// End that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Demand {
    /// A task without an end: it went well, or was skipped.
    Well,
    Succeeded,
    AnySucceeded,
    Failed,
    AllFailed,
    Errored,
    Skipped,
    Omitted,
    /// No task is a daemon.
    Daemoned,
}

impl Demand {
    fn of(end: &str) -> Option<Self> {
        Some(match end {
            "Succeeded" => Self::Succeeded,
            "AnySucceeded" => Self::AnySucceeded,
            "Failed" => Self::Failed,
            "AllFailed" => Self::AllFailed,
            "Errored" => Self::Errored,
            "Skipped" => Self::Skipped,
            "Omitted" => Self::Omitted,
            "Daemoned" => Self::Daemoned,
            _ => return None,
        })
    }

    /// Returns the ends that are meant.
    fn ends(self, node: &Node) -> Ends {
        let none = Ends::default();
        match self {
            Self::Well => none.with(End::Succeeded).with(End::Skipped).union(node.continued),
            Self::Succeeded | Self::AnySucceeded => none.with(End::Succeeded),
            Self::Failed | Self::AllFailed => node.failures,
            Self::Errored => none.with(End::Error),
            Self::Skipped => none.with(End::Skipped),
            Self::Omitted => none.with(End::Omitted),
            Self::Daemoned => none,
        }
    }

    /// Returns the condition on the phase of a task.
    fn text(self, node: &Node) -> String {
        let (wanted, possible) = (self.ends(node), node.ends());
        let name = &node.name;
        let (skipped, omitted) = (End::Skipped, End::Omitted);
        // Both are the phase Skipped.
        let differs =
            possible.has(skipped) && possible.has(omitted) && wanted.has(skipped) != wanted.has(omitted);
        let others = [End::Succeeded, End::Failed, End::Error].into_iter().filter(|end| wanted.has(*end));
        let others = others.fold(Ends::default(), Ends::with);
        if !differs {
            let is_never = [skipped, omitted].into_iter().all(|end| !wanted.has(end) || !possible.has(end));
            let is_only = others.is_empty() && !possible.has(skipped) && !possible.has(omitted);
            let kept = if is_never && !is_only { others } else { wanted };
            return kept.text(name);
        }
        let Some(condition) = node.inner_condition() else { return others.text(name) };
        let negated = if wanted.has(omitted) { "!" } else { "" };
        let skipped = format!("(tasks.{name}.phase == 'Skipped' && {negated}({condition}))");
        if others.is_empty() { skipped } else { format!("({} || {skipped})", others.text(name)) }
    }
}

/// A rule on the ends of tasks, which are given by their places.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Rule {
    All(Vec<Rule>),
    Any(Vec<Rule>),
    Not(Box<Rule>),
    End(usize, Demand),
}

impl Rule {
    /// Returns the rule that all these tasks go well.
    pub(super) fn all_of(tasks: Vec<usize>) -> Self {
        let mut seen = BTreeSet::new();
        let tasks = tasks.into_iter().filter(|task| seen.insert(*task));
        Self::All(tasks.map(|task| Self::End(task, Demand::Well)).collect())
    }

    /// Returns whether all tasks in it have to go well, and nothing else is asked for.
    pub(super) fn is_plain(&self) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(Self::is_plain),
            Self::End(_, wanted) => *wanted == Demand::Well,
            Self::Any(_) | Self::Not(_) => false,
        }
    }

    pub(super) fn asks_for(&self, wanted: Demand) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.asks_for(wanted)),
            Self::Not(part) => part.asks_for(wanted),
            Self::End(_, other) => *other == wanted,
        }
    }

    /// Returns the tasks in the order of their first mention.
    pub(super) fn tasks(&self) -> Vec<usize> {
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        self.add_tasks(&mut found, &mut seen);
        found
    }

    fn add_tasks(&self, found: &mut Vec<usize>, seen: &mut BTreeSet<usize>) {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().for_each(|part| part.add_tasks(found, seen));
            }
            Self::Not(part) => part.add_tasks(found, seen),
            Self::End(task, _) => {
                if seen.insert(*task) {
                    found.push(*task);
                }
            }
        }
    }

    /// Returns whether the rule can hold when a task ends so.
    pub(super) fn may_hold_after(&self, task: usize, end: End, nodes: &[Node]) -> bool {
        let one = Ends::default().with(end);
        let other = |other: usize| nodes.get(other).map(Node::conceivable).unwrap_or_default();
        self.outcomes(nodes, &|task_of| if task_of == task { one } else { other(task_of) }).0
    }

    /// Returns the condition of the rule; none if it always holds.
    pub(super) fn condition(&self, nodes: &[Node]) -> Option<String> {
        let ends = |task: usize| nodes.get(task).map(Node::ends).unwrap_or_default();
        self.outcomes(nodes, &ends).1.then(|| self.text(nodes, true))
    }

    /// Returns whether the rule can hold, and whether it can fail to hold. With many tasks, whose ends are taken one by one, both
    /// may be said to be possible where they are not.
    fn outcomes(&self, nodes: &[Node], ends: &dyn Fn(usize) -> Ends) -> (bool, bool) {
        let tasks = if self.is_plain() { Vec::new() } else { self.tasks() };
        if tasks.is_empty() || tasks.len() > MAX_TRIED {
            return self.bounds(nodes, ends);
        }
        let mut found = (false, false);
        let mut tried = BTreeMap::new();
        self.attempt(&tasks, nodes, ends, &mut tried, &mut found);
        found
    }

    fn attempt(
        &self,
        left: &[usize],
        nodes: &[Node],
        ends: &dyn Fn(usize) -> Ends,
        tried: &mut BTreeMap<usize, Ends>,
        found: &mut (bool, bool),
    ) {
        let Some((task, left)) = left.split_first() else {
            let one = |task| tried.get(&task).copied().unwrap_or_default();
            let (holds, fails) = self.bounds(nodes, &one);
            *found = (found.0 || holds, found.1 || fails);
            return;
        };
        for end in ends(*task).iter() {
            tried.insert(*task, Ends::default().with(end));
            self.attempt(left, nodes, ends, tried, found);
            if *found == (true, true) {
                return;
            }
        }
    }

    fn bounds(&self, nodes: &[Node], ends: &dyn Fn(usize) -> Ends) -> (bool, bool) {
        match self {
            Self::All(parts) => {
                let parts = parts.iter().map(|part| part.bounds(nodes, ends));
                parts.fold((true, false), |all, part| (all.0 && part.0, all.1 || part.1))
            }
            Self::Any(parts) => {
                let parts = parts.iter().map(|part| part.bounds(nodes, ends));
                parts.fold((false, true), |any, part| (any.0 || part.0, any.1 && part.1))
            }
            Self::Not(part) => {
                let (holds, fails) = part.bounds(nodes, ends);
                (fails, holds)
            }
            Self::End(task, wanted) => {
                let wanted = nodes.get(*task).map(|node| wanted.ends(node)).unwrap_or_default();
                let mut found = (false, false);
                for end in ends(*task).iter() {
                    found = if wanted.has(end) { (true, found.1) } else { (found.0, true) };
                }
                found
            }
        }
    }

    fn text(&self, nodes: &[Node], is_outer: bool) -> String {
        let (parts, sign) = match self {
            Self::All(parts) => (parts, " && "),
            Self::Any(parts) => (parts, " || "),
            Self::Not(part) => return format!("!({})", part.text(nodes, true)),
            Self::End(task, wanted) => {
                return nodes.get(*task).map(|node| wanted.text(node)).unwrap_or_default();
            }
        };
        match parts.as_slice() {
            [one] => one.text(nodes, is_outer),
            parts => {
                let parts: Vec<String> = parts.iter().map(|part| part.text(nodes, false)).collect();
                if is_outer { parts.join(sign) } else { format!("({})", parts.join(sign)) }
            }
        }
    }
}

/// A part of `depends`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part<'t> {
    Sign(&'static str),
    Word(&'t str),
}

/// Splits a text; none if a character has no place in it.
fn parts(text: &str) -> Option<Vec<Part<'_>>> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if let Some(sign) = ["&&", "||", "!", "(", ")"].into_iter().find(|sign| rest.starts_with(sign)) {
            found.push(Part::Sign(sign));
            rest = rest.get(sign.len()..)?;
        } else {
            let end = rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            if word.is_empty() {
                return None;
            }
            found.push(Part::Word(word));
            rest = behind;
        }
        rest = rest.trim_start();
    }
    Some(found)
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || "-_.".contains(c)
}

/// Returns the tasks that a text names.
pub(super) fn names_in(text: &str, places: &BTreeMap<String, usize>) -> Vec<usize> {
    let words = text.split(|c| !is_of_word(c));
    words.filter_map(|word| places.get(word.split('.').next()?).copied()).collect()
}

/// Reads a rule; none if it names an end or a task that there is not.
pub(super) fn parse(text: &str, places: &BTreeMap<String, usize>) -> Option<Rule> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let parts = parts(text)?;
    if parts.is_empty() {
        return Some(Rule::All(Vec::new()));
    }
    let mut parser = Parser { parts: &parts, places };
    let rule = parser.any(0)?;
    parser.parts.is_empty().then_some(rule)
}

struct Parser<'p, 't> {
    parts: &'p [Part<'t>],
    places: &'p BTreeMap<String, usize>,
}

impl Parser<'_, '_> {
    fn takes(&mut self, sign: &'static str) -> bool {
        match self.parts.split_first() {
            Some((first, rest)) if *first == Part::Sign(sign) => {
                self.parts = rest;
                true
            }
            _ => false,
        }
    }

    fn any(&mut self, depth: usize) -> Option<Rule> {
        let mut rules = vec![self.all(depth)?];
        while self.takes("||") {
            rules.push(self.all(depth)?);
        }
        Some(if rules.len() == 1 { rules.pop()? } else { Rule::Any(rules) })
    }

    fn all(&mut self, depth: usize) -> Option<Rule> {
        let mut rules = vec![self.one(depth)?];
        while self.takes("&&") {
            rules.push(self.one(depth)?);
        }
        Some(if rules.len() == 1 { rules.pop()? } else { Rule::All(rules) })
    }

    fn one(&mut self, depth: usize) -> Option<Rule> {
        if depth > MAX_DEPTH {
            return None;
        }
        if self.takes("!") {
            return Some(Rule::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.takes("(") {
            let inside = self.any(depth + 1)?;
            return self.takes(")").then_some(inside);
        }
        let (first, rest) = self.parts.split_first()?;
        let Part::Word(word) = first else { return None };
        self.parts = rest;
        let (task, wanted) = match word.split_once('.') {
            Some((task, end)) => (task, Demand::of(end)?),
            None => (*word, Demand::Well),
        };
        Some(Rule::End(*self.places.get(task)?, wanted))
    }
}
