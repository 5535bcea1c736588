//! Files of other systems that `phasm convert` reads: one problem with that command, not one for each of their fields.

use crate::{
    form::Cursor,
    problem::{Problem, codes::shape},
    tree::{Key, Tree, TreeNode},
};

const ARGO: &str = "this is a file of Argo Workflows: `phasm convert FILE` converts it";
const ACTIONS: &str = "this is a file of GitHub Actions: `phasm convert FILE` converts it";

/// Returns the problem of a file that another system's workflow is written in.
pub(super) fn problem_of(document: &Cursor<'_>) -> Option<Problem> {
    let TreeNode::Object(members) = &document.tree.node else { return None };
    argo(document, members).or_else(|| actions(document, members))
}

fn argo(document: &Cursor<'_>, members: &[(Key, Tree)]) -> Option<Problem> {
    let (key, tree) = members.iter().find(|(key, _)| &*key.name == "apiVersion")?;
    let TreeNode::String(version) = &tree.node else { return None };
    if !version.starts_with("argoproj.io/") {
        return None;
    }
    let place = Cursor { tree, path: document.path.key(key.name.clone()) };
    let message = format!("found `{version}`; expected `phasm/v1` or `aether/v1`");
    Some(place.problem(&shape::UNKNOWN_WORD, message).with_hint(ARGO))
}

/// A file with `jobs` that has nothing of a workflow of ours.
fn actions(document: &Cursor<'_>, members: &[(Key, Tree)]) -> Option<Problem> {
    let has_jobs =
        members.iter().any(|(key, tree)| &*key.name == "jobs" && matches!(tree.node, TreeNode::Object(_)));
    let is_ours = ["apiVersion", "kind", "spec"].into_iter().any(|field| document.has(field));
    if !has_jobs || is_ours {
        return None;
    }
    let place = document.site().missing("apiVersion");
    let message = "missing field `apiVersion`; expected `phasm/v1` or `aether/v1`";
    Some(place.problem(&shape::MISSING_FIELD, message).with_hint(ACTIONS))
}
