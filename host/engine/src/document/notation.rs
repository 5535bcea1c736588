//! Placeholders of other tools in values: they stay as text, which is seldom meant.

use crate::{
    form::{Report, Site},
    path::Path,
    problem::codes::warnings::FOREIGN_NOTATION,
    tree::{Tree, TreeNode},
};

use super::passage::Passage;

/// A notation of another tool.
struct Notation {
    open: &'static str,
    close: &'static str,
    /// Its name, and what becomes of it here.
    message: &'static str,
    counterpart: &'static str,
}

const NOTATIONS: [Notation; 3] = [
    Notation {
        open: "${{",
        close: "}}",
        message: "`${{ … }}` is the notation of GitHub; here the dollar sign stays in the text",
        counterpart: "write `{{ … }}`; for an amount in dollars write `{{ '$' }}{{ … }}`",
    },
    Notation {
        open: "{%",
        close: "%}",
        message: "`{% … %}` is a statement of Jinja; here it stays in the text",
        counterpart: "write a choice as `{{ condition ? a : b }}`, a condition of a task as `when`, a repetition as a template `loop`",
    },
    Notation {
        open: "{#",
        close: "#}",
        message: "`{# … #}` is a comment of Jinja; here it stays in the text",
        counterpart: "write a comment in YAML, behind `#`",
    },
];

/// Warns of every text in `tree`, which stands at `path`, that has such a notation.
pub(super) fn warn(tree: &Tree, path: &Path, report: &Report) {
    match &tree.node {
        TreeNode::String(text) if text.contains('{') => {
            for notation in &NOTATIONS {
                warn_of(notation, text, tree, path, report);
            }
        }
        TreeNode::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| warn(item, &path.index(at), report));
        }
        TreeNode::Object(members) => {
            members.iter().for_each(|(key, member)| warn(member, &path.key(key.name.clone()), report));
        }
        TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) | TreeNode::String(_) => {}
    }
}

fn warn_of(notation: &Notation, text: &std::sync::Arc<str>, tree: &Tree, path: &Path, report: &Report) {
    let Some(open) = text.find(notation.open) else { return };
    let is_closed = text.get(open + notation.open.len()..).is_some_and(|rest| rest.contains(notation.close));
    if !is_closed || report.is_full_of_warnings() {
        return;
    }
    let part = Passage::new(text.clone(), tree).part(open..open + notation.open.len());
    let site = Site { path: path.clone(), span: part.unwrap_or(tree.span) };
    let raw = path.raw_spelling().map_or_else(
        || "pass it as an input with `raw: true`".to_owned(),
        |spelling| format!("write {spelling}"),
    );
    let warning = site.problem(&FOREIGN_NOTATION, notation.message);
    report.warning(
        warning.with_hint(format!("{}; if it is meant for the executor, {raw}", notation.counterpart)),
    );
}
