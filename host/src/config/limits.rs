//! `[limits]`: what every guest may use.

use std::num::NonZeroUsize;

use phasm_engine::tree::Node;

use super::{
    Config,
    fields::{Field, Findings, Table},
};

pub(super) fn read(table: &Table<'_>, config: &mut Config, findings: &mut Findings) {
    let limits = &mut config.limits;
    let sizes = [
        ("memory", &mut limits.memory),
        ("stack", &mut limits.stack),
        ("hostcall", &mut limits.hostcall),
        ("random", &mut limits.random),
        ("output", &mut limits.output),
        ("log", &mut limits.log),
        ("line", &mut limits.line),
        ("component", &mut limits.component),
    ];
    let counts = [
        ("memories", &mut limits.memories),
        ("tables", &mut limits.tables),
        ("table-elements", &mut limits.table_elements),
        ("instances", &mut limits.instances),
        ("handles", &mut limits.handles),
        ("resources", &mut limits.resources),
    ];
    let names = sizes.iter().map(|(name, _)| *name).chain(counts.iter().map(|(name, _)| *name));
    let known: Vec<_> = names.chain(["slots", "threads"]).collect();
    table.only(&known, findings);
    for (name, limit) in sizes {
        replace(limit, table.get(name).and_then(|field| size(&field, findings)));
    }
    for (name, limit) in counts {
        replace(limit, table.get(name).and_then(|field| count(&field, findings)));
    }
    config.slots = table.get("slots").and_then(|field| count(&field, findings));
    let threads = table.get("threads").and_then(|field| count(&field, findings));
    config.threads = threads.and_then(|n| NonZeroUsize::new(n as usize));
}

fn replace<T>(limit: &mut T, by: Option<T>) {
    if let Some(by) = by {
        *limit = by;
    }
}

/// A whole number of at least 1.
fn count(field: &Field<'_>, findings: &mut Findings) -> Option<u32> {
    let number = match &field.tree.node {
        Node::Number(number) => number.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0),
        Node::Null | Node::Bool(_) | Node::String(_) | Node::Array(_) | Node::Object(_) => None,
    };
    if number.is_none() {
        field.bad_value(format!("expected a whole number from 1 to {}", u32::MAX), findings);
    }
    number
}

/// A number of bytes, or text such as `64 MiB`.
fn size(field: &Field<'_>, findings: &mut Findings) -> Option<u64> {
    let size = match &field.tree.node {
        Node::Number(number) => number.as_u64().filter(|n| *n > 0),
        Node::String(text) => phasm_engine::parse_size(text.trim()),
        Node::Null | Node::Bool(_) | Node::Array(_) | Node::Object(_) => None,
    };
    if size.is_none() {
        field.bad_value("no size; expected a number of bytes above 0, or text such as `64 MiB`", findings);
    }
    size
}
