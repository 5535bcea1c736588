//! `executor`: who does a task's work.

use crate::{
    plan::catalogue::shape,
    tree::{Node, Tree},
};

use super::{
    Report, ValueDoc,
    field::text,
    walk::{Cursor, Name, Site},
};

/// `executor`.
#[derive(Clone, Debug)]
pub(crate) struct ExecutorDoc {
    pub(crate) kind: Name,
    /// An object; absent when none is written.
    pub(crate) config: Option<ValueDoc>,
}

impl ExecutorDoc {
    pub(super) fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let mut object = cursor.object(report)?;
        let kind = object.required("type", "the executor's type", executor_type);
        let config = object.optional("config", |cursor, report| {
            cursor.object(report)?;
            ValueDoc::read(false)(cursor, report)
        });
        object.finish();
        Some(Self { kind: kind?, config })
    }
}

/// `name`, `name@version` or `sha256:` and 64 hexadecimal digits.
pub(super) fn executor_type(cursor: &Cursor<'_>, report: &Report) -> Option<Name> {
    let found = text(cursor, report)?;
    let fits = match found.value.strip_prefix("sha256:") {
        Some(digest) => digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => {
            let (name, version) = found.value.split_once('@').unwrap_or((&found.value, "0"));
            let part =
                |part: &str| !part.is_empty() && !part.chars().any(|c| c.is_whitespace() || c.is_control());
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
    let spec = Tree { node: Node::Object(members), span };
    let tree = Tree { node: Node::Object(vec![(key, spec)]), span };
    ValueDoc::read(true)(&Cursor { tree: &tree, path: site.path.clone() }, report)
}
