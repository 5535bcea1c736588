//! Keys that occur twice.

use std::collections::BTreeMap;

use crate::{
    path::Path,
    problem::{Problem, codes::shape},
    tree::{Key, Tree, TreeNode},
};

use super::{Cursor, Report};

/// Reports every key that occurs twice in an object, anywhere below `cursor`.
pub fn check_duplicates(cursor: &Cursor<'_>, report: &Report) {
    match &cursor.tree.node {
        TreeNode::Array(items) => {
            for (index, tree) in items.iter().enumerate() {
                if is_collection(tree) {
                    check_duplicates(&Cursor { tree, path: cursor.path.index(index) }, report);
                }
            }
        }
        TreeNode::Object(members) => check_members(members, &cursor.path, report),
        TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) | TreeNode::String(_) => {}
    }
}

fn check_members(members: &[(Key, Tree)], path: &Path, report: &Report) {
    let mut seen = BTreeMap::new();
    for (key, tree) in members {
        let at = || path.key(key.name.clone());
        if let Some(first) = seen.insert(&key.name, key.span) {
            let before =
                if first.line > 0 { format!(" (first in line {})", first.line) } else { String::new() };
            let message = format!("key `{}` occurs twice{before}; expected it once", key.name);
            report.problem(Problem::new(&shape::DUPLICATE_KEY, &at(), key.span, message).with_value(tree));
        }
        if is_collection(tree) {
            check_duplicates(&Cursor { tree, path: at() }, report);
        }
    }
}

fn is_collection(tree: &Tree) -> bool {
    matches!(tree.node, TreeNode::Array(_) | TreeNode::Object(_))
}
