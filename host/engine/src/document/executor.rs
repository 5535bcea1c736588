//! `executor`: who does a task's work.

use serde_json::json;

use crate::{
    form::{Cursor, Field, Form, Name, Report, Site, Table},
    problem::codes::shape,
    text::is_hidden,
    tree::{Tree, TreeNode},
};

use super::ValueDoc;

/// `executor`.
#[derive(Clone, Debug)]
pub(crate) struct ExecutorDoc {
    pub(crate) kind: Name,
    /// An object; absent when none is written.
    pub(crate) config: Option<ValueDoc>,
}

pub(super) const EXECUTOR: Form<ExecutorDoc> = Form::new(
    |cursor, report| {
        let object = cursor.object(&EXECUTOR_TABLE, report)?;
        let kind = object.optional(&TYPE);
        let config = object.optional(&CONFIG);
        Some(ExecutorDoc { kind: kind?, config })
    },
    |defs| defs.object(&EXECUTOR_TABLE),
);

static EXECUTOR_TABLE: Table = Table::closed(
    "executor",
    "The executor that does a task's work, and its settings.",
    &[&TYPE, &CONFIG],
    &[],
)
.not_alone("write `executor: { type: NAME }`");

static TYPE: Field<Name> = Field::required(
    "type",
    "the executor's type",
    EXECUTOR_TYPE,
    "The plugin that does the work: `name`, `name@version` or `sha256:` and a digest; pinned when the run is submitted.",
);

static CONFIG: Field<ValueDoc> = Field::optional(
    "config",
    Form::new(
        |cursor, report| {
            let _members = cursor.each_member(report)?;
            ValueDoc::read(false, cursor, report)
        },
        |_| json!({ "type": "object" }),
    ),
    "Settings for the executor, of whatever members it defines; strings may hold `{{ }}` at any depth.",
);

/// Blanks, and what [`is_hidden`] says of characters, in a class of a pattern.
const UNSEEN: &str = r"\x00-\x20\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff";

/// `name`, `name@version` or `sha256:` and 64 hexadecimal digits.
pub(super) const EXECUTOR_TYPE: Form<Name> = Form::new(executor_type, |defs| {
    defs.named("executorType", |_| {
        json!({
            "type": "string",
            "if": { "pattern": "^sha256:" },
            "then": { "pattern": "^sha256:[0-9A-Fa-f]{64}$" },
            "else": { "pattern": format!("^[^@{UNSEEN}]+(@[^{UNSEEN}]+)?$") },
        })
    })
});

fn executor_type(cursor: &Cursor<'_>, report: &Report) -> Option<Name> {
    let found = cursor.located(cursor.text(report)?);
    let fits = match found.value.strip_prefix("sha256:") {
        Some(digest) => digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => {
            let (name, version) = found.value.split_once('@').unwrap_or((&found.value, "0"));
            let part = |part: &str| !part.is_empty() && !part.contains(|c: char| c == ' ' || is_hidden(c));
            part(name) && part(version)
        }
    };
    if !fits {
        let message = format!(
            "executor type {:?}; expected `name`, `name@version` or `sha256:` and a digest",
            found.value
        );
        report.problem(cursor.problem(&shape::INVALID_NAME, message));
    }
    Some(found)
}

/// `config` of seed 002's labelled form: the members of `spec` that are the executor's, unchanged, under `spec`.
pub(super) fn labelled_config(
    members: Vec<(crate::tree::Key, Tree)>,
    site: &Site,
    report: &Report,
) -> Option<ValueDoc> {
    let span = site.span;
    let key = crate::tree::Key { name: "spec".into(), span };
    let spec = Tree::new(TreeNode::Object(members), span);
    let tree = Tree::new(TreeNode::Object(vec![(key, spec)]), span);
    ValueDoc::read(true, &Cursor { tree: &tree, path: site.path.clone() }, report)
}
