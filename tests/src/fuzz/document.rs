//! Any text as a document: read, checked, and run for a while.

use std::sync::Arc;

use phasm_engine::{
    event::{Dispatch, Facts},
    outcome::{Outcome, Output},
    plan::{Draft, Executors, Plan, bind_arguments},
    problem::Problem,
    problem::codes,
    run::SubmitEnv,
    tree::{Key, Span, Tree, TreeNode},
    value::{Map, Number, Value},
};

use super::points_into;
use crate::world::{Act, Script, World, check_cut};

/// A reader of documents: a file's name and its text.
pub type Read = fn(&str, &str) -> Result<Tree, Vec<Problem>>;

/// Bytes that a problem may have, whatever it speaks of: 128 levels of path, a message and a hint.
const LARGEST_PROBLEM: usize = 64 << 10;
/// How far a run is followed.
const MOST_STEPS: usize = 100;

/// Checks that `data` as text is a document that can be run, or has problems that point into it, whatever language its
/// file's name claims.
///
/// # Panics
/// When it does not.
pub fn document(data: &[u8], read: Read) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let lines = Lines::of(text);
    let trees = ["document", "document.json", "document.yaml"].map(|name| {
        let tree = read(name, text);
        match &tree {
            Ok(tree) => check_spans(&lines, tree),
            Err(problems) => check_problems(&lines, problems, 'P'),
        }
        tree.ok()
    });
    let [found, json, yaml] = &trees;
    if let Some(json) = json {
        check_json(text, json);
        assert_eq!(found.as_ref(), Some(json));
    }
    if let (Some(json), Some(yaml)) = (json, yaml) {
        assert_eq!(json.to_value(), yaml.to_value(), "JSON is YAML");
    }
    if let Some(tree) = found {
        build(&lines, tree);
    }
}

/// A text, and line and column of each of its characters, by its first byte.
struct Lines<'t> {
    text: &'t str,
    places: Vec<(u32, u32)>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let mut places = vec![(0, 0); text.len() + 1];
        let (mut line, mut column) = (1, 1);
        let mut characters = text.char_indices().peekable();
        while let Some((at, c)) = characters.next() {
            if let Some(place) = places.get_mut(at) {
                *place = (line, column);
            }
            let in_pair = c == '\r' && characters.peek().is_some_and(|(_, next)| *next == '\n');
            match c {
                '\u{feff}' if at == 0 => {}
                '\n' | '\r' if !in_pair => (line, column) = (line + 1, 1),
                _ => column += 1,
            }
        }
        if let Some(end) = places.last_mut() {
            *end = (line, column);
        }
        Self { text, places }
    }

    /// Whether a span lies in the text and its line and column are those of its first byte.
    fn hold(&self, span: Span) -> bool {
        let Span { line, column, start, end } = span;
        let within = start <= end && points_into(self.text, start) && points_into(self.text, end);
        within && self.places.get(start) == Some(&(line, column))
    }
}

/// A problem points into the text; only one that is about the text as a whole has no place.
fn check_problems(lines: &Lines<'_>, problems: &[Problem], letter: char) {
    for problem in problems {
        assert!(problem.code.starts_with(letter) && codes::find(problem.code).is_some(), "{problem:?}");
        assert!(!problem.message.is_empty(), "{problem:?}");
        assert!(size(problem) <= LARGEST_PROBLEM, "{} bytes: {problem:?}", size(problem));
        // That there are more than are listed stands nowhere.
        let stands = !matches!(problem.code, "P000" | "W000");
        assert_eq!((problem.line, problem.column), (problem.span.line, problem.span.column));
        assert!(!stands || lines.hold(problem.span), "{problem:?} in {:?}", lines.text);
    }
}

fn size(problem: &Problem) -> usize {
    let texts = [Some(&problem.path), Some(&problem.message), problem.hint.as_ref()];
    let value = problem.value.as_ref().map_or(0, |value| value.to_json().len());
    texts.into_iter().flatten().map(String::len).sum::<usize>() + value
}

fn check_spans(lines: &Lines<'_>, tree: &Tree) {
    assert!(lines.hold(tree.span), "{tree:?} in {:?}", lines.text);
    match &tree.node {
        TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) | TreeNode::String(_) => {}
        TreeNode::Array(items) => items.iter().for_each(|item| check_spans(lines, item)),
        TreeNode::Object(members) => {
            for (Key { name, span }, member) in members {
                assert!(lines.hold(*span), "{name:?} {span:?} in {:?}", lines.text);
                check_spans(lines, member);
            }
        }
    }
}

/// A document that the strict reader accepts is JSON to another reader too, and means the same.
fn check_json(text: &str, tree: &Tree) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match Value::from_json(text) {
        Ok(value) => assert!(same(&tree.to_value(), &value), "{} is {value}", tree.to_value()),
        // The other one goes a level less deep.
        Err(error) => assert!(error.to_string().contains("recursion limit"), "{error} in {text:?}"),
    }
}

/// Whether two values are equal; `-0` is the integer 0 to the one reader and a double to the other.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(ones), Value::Array(others)) => {
            ones.len() == others.len() && ones.iter().zip(others.iter()).all(|(one, other)| same(one, other))
        }
        (Value::Object(ones), Value::Object(others)) => {
            let pairs = || ones.iter().zip(others.iter());
            ones.len() == others.len() && pairs().all(|((k, one), (l, other))| k == l && same(one, other))
        }
        (Value::Number(one), Value::Number(other)) => one == other || [one, other].map(is_zero) == [true; 2],
        _ => one == other,
    }
}

fn is_zero(number: &Number) -> bool {
    number.as_f64() == Some(0.0)
}

fn build(lines: &Lines<'_>, tree: &Tree) {
    let plan = match Draft::read(tree).plan(&Executors::any(), &Value::Null) {
        Ok(plan) => plan,
        Err(problems) => {
            assert!(!problems.is_empty(), "{:?}", lines.text);
            return check_problems(lines, &problems, 'P');
        }
    };
    check_problems(lines, &plan.warnings, 'W');
    // The document as a journal keeps it gives the same plan, without positions.
    let kept = Draft::read(&Tree::from(&plan.document.value())).plan(&Executors::any(), &Value::Null);
    assert_eq!(kept.map(|kept| kept.warnings.len()).ok(), Some(plan.warnings.len()), "{:?}", lines.text);
    if plan.cron.is_none() {
        run(&Arc::new(plan));
    }
}

/// Every code in turn, and an output that grows.
struct Codes(usize);

impl Script for Codes {
    fn act(&mut self, _path: &str, _dispatch: &Dispatch) -> Act {
        let codes = [0, 3, 0, 1, 2, 0, 4, 99];
        let code = codes.into_iter().cycle().nth(self.0 % codes.len()).unwrap_or_default();
        self.0 += 1;
        let value = Value::from(vec![Value::Null; self.0]);
        let outputs = vec![Output::new("x", value)];
        let takes = (!self.0.is_multiple_of(11)).then_some(10);
        Act { start_after: 0, takes, outcome: Outcome { code, outputs, ..Outcome::default() } }
    }
}

fn run(plan: &Arc<Plan>) {
    let (run_id, facts) = ("run".into(), Facts::default());
    let view = SubmitEnv { plan, run_id: &run_id, facts: &facts, by: None };
    let Ok(parameters) = bind_arguments(plan, &Map::new(), &view) else { return };
    let mut world = World::submit(Arc::clone(plan), parameters, 4, Codes(0), false);
    let mut steps = 0;
    while steps < MOST_STEPS && world.advance() {
        steps += 1;
    }
    assert_eq!(check_cut(plan, &world, world.journal.len()), Ok(()));
}
