//! Whether the literal items of a loop fit the body's inputs.

use crate::{
    document::{ItemDoc, LoopDoc, OverDoc, ParameterDoc, ParametersDoc, SourceDoc, ValueDoc, type_mismatch},
    expr::{Expr, ValueTemplate},
    form::Site,
    plan::resolve::index::Index,
    problem::codes::Entry,
    value::Value,
};

/// Arguments times items that are looked at: a hostile document has many of both.
const MAX_CHECKS: usize = 1_000_000;

/// Checks the fields of object items, which are arguments by name, and what arguments make of `loop.item`.
pub(super) fn check(index: &Index<'_>, read: &LoopDoc, inputs: &ParametersDoc) {
    match &read.over {
        OverDoc::Items(items) => {
            for item in items {
                check_fields(index, read, item, inputs);
            }
            let uses: Vec<_> = uses(read, inputs).collect();
            let most = MAX_CHECKS / (1 + uses.len());
            for (input, site, rest) in uses {
                for item in items.iter().take(most) {
                    check_part(index, input, &site, &item.value, &rest);
                }
            }
        }
        OverDoc::Sequence(values) => {
            for (input, site, rest) in uses(read, inputs) {
                check_sequence(index, input, &site, values, &rest);
            }
        }
        OverDoc::ItemsFrom(_) | OverDoc::Repeat(_) | OverDoc::Unreadable => {}
    }
}

fn check_fields(index: &Index<'_>, read: &LoopDoc, item: &ItemDoc, inputs: &ParametersDoc) {
    for (name, site) in &item.fields {
        let Some(input) = inputs.find(name) else { continue };
        if !read.arguments.sound || read.arguments.find(name).is_some() {
            continue;
        }
        let field = part(&item.value.value, &[&**name]);
        if let Some((entry, message)) = field.and_then(|field| item_mismatch(&field, input)) {
            index.report.at(entry, site, format!("{message}, as the body's input `{name}`"));
        }
    }
}

/// The arguments that are `loop.item` or a member of it and nothing more: the input, where they stand, the member.
fn uses<'a>(
    read: &'a LoopDoc,
    inputs: &'a ParametersDoc,
) -> impl Iterator<Item = (&'a ParameterDoc, Site, Vec<&'a str>)> {
    read.arguments.list.iter().filter_map(|argument| {
        let input = inputs.find(&argument.name.value)?;
        let (expr, site) = source(argument)?;
        let path: Vec<&str> = expr.as_path()?.path.iter().map(|segment| &**segment).collect();
        let rest = match path.as_slice() {
            ["loop" | "iterator" | "loop_iter", "item", rest @ ..] => rest,
            ["loop_iter", rest @ ..] if !matches!(rest, [] | ["index", ..]) => rest,
            _ => return None,
        };
        Some((input, site, rest.to_vec()))
    })
}

fn source(argument: &ParameterDoc) -> Option<(&Expr, Site)> {
    match (&argument.value, &argument.value_from) {
        (Some(value), _) => Some((value.value.as_expr()?, value.site.clone())),
        (None, Some(SourceDoc::Expression(expr))) => Some((&expr.expr, expr.site.clone())),
        (None, Some(SourceDoc::Secret(_)) | None) => None,
    }
}

fn check_part(index: &Index<'_>, input: &ParameterDoc, argument: &Site, item: &ValueDoc, rest: &[&str]) {
    let part = part(&item.value, rest);
    if let Some((entry, message)) = part.and_then(|part| item_mismatch(&part, input)) {
        let name = &input.name.value;
        let message = format!("{message}, as {} passes it to the body's input `{name}`", argument.path);
        index.report.at(entry, &item.site, message);
    }
}

/// The values of a sequence are alike: one of them tells of all.
fn check_sequence(index: &Index<'_>, input: &ParameterDoc, argument: &Site, values: &[Value], rest: &[&str]) {
    let wrong = values
        .iter()
        .find_map(|value| item_mismatch(&part(&ValueTemplate::Literal(value.clone()), rest)?, input));
    if let Some((entry, message)) = wrong {
        index.report.at(entry, argument, format!("{message}, as the body's input `{}`", input.name.value));
    }
}

fn item_mismatch(value: &ValueTemplate, input: &ParameterDoc) -> Option<(&'static Entry, String)> {
    type_mismatch(value, input.kind, &input.allowed)
}

/// The member of `value` at `path`, where it is certain that there is one.
fn part(value: &ValueTemplate, path: &[&str]) -> Option<ValueTemplate> {
    let Some((first, rest)) = path.split_first() else { return Some(value.clone()) };
    match value {
        ValueTemplate::Literal(literal) => {
            let found = path.iter().try_fold(literal, |value, segment| value.member(segment))?;
            Some(ValueTemplate::Literal(found.clone()))
        }
        ValueTemplate::Object(members) => {
            let (_, member) = members.iter().find(|(name, _)| &**name == *first)?;
            part(member, rest)
        }
        ValueTemplate::Placeholder(_) | ValueTemplate::Text(_) | ValueTemplate::Array(_) => None,
    }
}
