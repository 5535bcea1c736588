//! Names, kinds and calls of all templates, read before they are converted.

use std::collections::{BTreeMap, BTreeSet};

use phasm_engine::tree::{Tree, TreeNode};

use crate::{fields::Field, names::Names};

/// Kind of a template, as its callers need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Tasks with dependencies.
    Graph,
    /// Work of one executor; its output `result` has this name.
    Leaf {
        /// Name of the output.
        result: &'static str,
    },
    /// A wait for a person, which takes no arguments.
    Approval,
}

/// A template before it is converted.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// All templates of a file.
#[derive(Debug, Default)]
pub(super) struct Survey {
    signatures: BTreeMap<String, Signature>,
    first: Option<String>,
    /// Calls that lead back to the caller.
    back: BTreeSet<(String, String)>,
    reads_results: bool,
}

impl Survey {
    pub(super) fn of(templates: &[Field<'_>], names: &mut Names) -> Self {
        let mut survey = Self::default();
        let mut calls: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for template in templates {
            let tree = template.tree();
            let Some(name) = text(member(tree, "name")) else { continue };
            if survey.signatures.contains_key(name) {
                continue;
            }
            survey.first.get_or_insert_with(|| name.to_owned());
            let signature = Signature { name: names.fresh(name), kind: kind(tree) };
            survey.signatures.insert(name.to_owned(), signature);
            calls.insert(name, callees(tree));
            survey.reads_results |= reads_results(tree);
        }
        survey.back = back_edges(&calls);
        survey
    }

    pub(super) fn get(&self, name: &str) -> Option<&Signature> {
        self.signatures.get(name)
    }

    /// Returns the name of the first template.
    pub(super) fn first(&self) -> Option<String> {
        self.first.clone()
    }

    /// Returns whether an expression reads the `result` of a task.
    pub(super) fn reads_results(&self) -> bool {
        self.reads_results
    }

    pub(super) fn is_recursive(&self, caller: &str, callee: &str) -> bool {
        self.back.contains(&(caller.to_owned(), callee.to_owned()))
    }
}

fn member<'t>(tree: &'t Tree, name: &str) -> Option<&'t Tree> {
    let TreeNode::Object(members) = &tree.node else { return None };
    members.iter().find(|(key, _)| &*key.name == name).map(|(_, value)| value)
}

fn text(tree: Option<&Tree>) -> Option<&str> {
    if let TreeNode::String(text) = &tree?.node { Some(text) } else { None }
}

fn items(tree: Option<&Tree>) -> &[Tree] {
    if let Some(TreeNode::Array(items)) = tree.map(|tree| &tree.node) { items } else { &[] }
}

fn kind(template: &Tree) -> Kind {
    let has = |name| member(template, name).is_some();
    if has("dag") || has("steps") {
        Kind::Graph
    } else if member(template, "suspend").is_some_and(|suspend| member(suspend, "duration").is_none()) {
        Kind::Approval
    } else {
        Kind::Leaf { result: if has("http") { "body" } else { "result" } }
    }
}

fn callees(template: &Tree) -> Vec<&str> {
    let dag = items(member(template, "dag").and_then(|dag| member(dag, "tasks"))).iter();
    let steps = items(member(template, "steps")).iter().flat_map(|group| items(Some(group)));
    dag.chain(steps).filter_map(|task| text(member(task, "template"))).collect()
}

/// Returns the calls that close a circle.
fn back_edges(calls: &BTreeMap<&str, Vec<&str>>) -> BTreeSet<(String, String)> {
    let mut back = BTreeSet::new();
    let mut done = BTreeSet::new();
    for start in calls.keys() {
        let mut open = BTreeSet::new();
        let mut stack = vec![(*start, 0)];
        while let Some((name, at)) = stack.pop() {
            if at == 0 && (done.contains(name) || !open.insert(name)) {
                continue;
            }
            match calls.get(name).and_then(|callees| callees.get(at)) {
                Some(callee) => {
                    stack.push((name, at + 1));
                    if open.contains(callee) {
                        back.insert((name.to_owned(), (*callee).to_owned()));
                    } else {
                        stack.push((callee, 0));
                    }
                }
                None => {
                    open.remove(name);
                    done.insert(name);
                }
            }
        }
    }
    back
}

fn reads_results(tree: &Tree) -> bool {
    match &tree.node {
        TreeNode::String(text) => text.contains(".outputs.result"),
        TreeNode::Array(items) => items.iter().any(reads_results),
        TreeNode::Object(members) => members.iter().any(|(_, value)| reads_results(value)),
        TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) => false,
    }
}
