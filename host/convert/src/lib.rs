//! Conversion of workflows of other systems, Argo Workflows and job graphs as GitHub Actions has them, to `phasm/v1`.
//!
//! Fields are read through `fields`, which keeps a list of the fields that were used: all others are reported, so that no field is
//! left out in silence.

mod actions;
mod argo;
mod expression;
mod fields;
mod names;
mod yaml;

use phasm_engine::tree::{Tree, TreeNode};

use fields::{Field, Log};
pub use fields::{MAX_NOTES, Note, NoteKind};
use yaml::Output;

/// Format of a file of another system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Argo Workflows.
    Argo,
    /// A graph of jobs as GitHub Actions has them.
    Actions,
}

impl Format {
    /// Returns the format of a file; none if it is not one of these.
    #[must_use]
    pub fn of(tree: &Tree) -> Option<Self> {
        let TreeNode::Object(members) = &tree.node else { return None };
        let has =
            |name: &str| members.iter().find(|(key, _)| &*key.name == name).map(|(_, value)| &value.node);
        match has("apiVersion") {
            Some(TreeNode::String(version)) => version.starts_with("argoproj.io/").then_some(Self::Argo),
            Some(_) => None,
            None => (has("jobs").is_some() && other(members).is_none()).then_some(Self::Actions),
        }
    }

    /// Returns the name of the system.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Argo => "Argo Workflows",
            Self::Actions => "GitHub Actions",
        }
    }
}

/// Condition on which a dag or loop fails by any failure in it, although each is tolerated.
const ANY_FAILURE: &str = "children.failed + children.error + children.timeout > 0";

/// Returns the name of the system that a file seems to be of, if it is neither one of these nor of Phasm.
#[must_use]
pub fn other_system(tree: &Tree) -> Option<String> {
    let TreeNode::Object(members) = &tree.node else { return None };
    match member(members, "apiVersion").map(|version| &version.node) {
        Some(TreeNode::String(version)) => {
            let is_known = ["argoproj.io/", "phasm", "aether"].iter().any(|name| version.starts_with(name));
            (!is_known).then(|| format!("`apiVersion: {}`", fields::short(version, 60)))
        }
        Some(_) => None,
        None => other(members).map(ToOwned::to_owned),
    }
}

type Members = [(phasm_engine::tree::Key, Tree)];

fn member<'m>(members: &'m Members, name: &str) -> Option<&'m Tree> {
    members.iter().find(|(key, _)| &*key.name == name).map(|(_, value)| value)
}

/// Returns the system of a file without `apiVersion` by fields that only its files have.
fn other(members: &Members) -> Option<&'static str> {
    let has = |members: &Members, name: &str| member(members, name).is_some();
    let any = |within: &Members, names: &[&str]| {
        within.iter().any(|(_, value)| match &value.node {
            TreeNode::Object(inner) => names.iter().any(|name| has(inner, name)),
            TreeNode::Null
            | TreeNode::Bool(_)
            | TreeNode::Number(_)
            | TreeNode::String(_)
            | TreeNode::Array(_) => false,
        })
    };
    let jobs = match member(members, "jobs").map(|jobs| &jobs.node) {
        Some(TreeNode::Object(jobs)) => jobs.as_slice(),
        Some(
            TreeNode::Null
            | TreeNode::Bool(_)
            | TreeNode::Number(_)
            | TreeNode::String(_)
            | TreeNode::Array(_),
        )
        | None => &[],
    };
    if has(members, "jobs") {
        let is_circle = ["version", "orbs", "workflows", "executors"].iter().any(|name| has(members, name))
            || any(jobs, &["docker", "machine", "macos", "executor"]);
        let is_azure = ["pool", "trigger"].iter().any(|name| has(members, name));
        return match (has(members, "on"), is_circle, is_azure) {
            (false, true, _) => Some("CircleCI"),
            (false, false, true) => Some("Azure Pipelines"),
            (true, _, _) | (false, false, false) => None,
        };
    }
    if ["kind", "metadata", "spec"].iter().any(|name| has(members, name)) {
        return None;
    }
    if has(members, "stages") || any(members, &["script", "trigger"]) {
        return Some("GitLab CI");
    }
    has(members, "services").then_some("Compose")
}

/// A workflow file of `phasm/v1`, and the notes on its conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// Text of the workflow file.
    pub text: String,
    /// Fields that are left out or need work, in the order of the source, [`MAX_NOTES`] at most.
    pub notes: Vec<Note>,
    /// Number of further notes.
    pub more: usize,
}

/// Converts a file that is in `format`.
#[must_use]
pub fn convert(tree: &Tree, format: Format) -> Conversion {
    let log = Log::default();
    let root = Field::root(tree, &log);
    let workflow = match format {
        Format::Argo => argo::convert(&root),
        Format::Actions => actions::convert(&root),
    };
    let hint = match format {
        Format::Argo => argo::hint,
        Format::Actions => actions::hint,
    };
    let (notes, more) = log.notes(tree, hint);
    Conversion { text: text(&workflow, format, &notes, more), notes, more }
}

/// Returns the file: a line for editors, the notes as comments, the workflow.
fn text(workflow: &Output, format: Format, notes: &[Note], more: usize) -> String {
    let mut text = format!(
        "# yaml-language-server: $schema=workflow.schema.json\n# Converted from {} by `phasm convert`.\n",
        format.name()
    );
    if !notes.is_empty() {
        text.push_str("# To do:\n");
    }
    for note in notes {
        text.push_str("#   ");
        text.push_str(&note.to_string());
        text.push('\n');
    }
    if more > 0 {
        text.push_str(&format!("#   and {more} more\n"));
    }
    workflow.write(&mut text);
    text
}
