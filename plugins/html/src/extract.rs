//! Elements of a page, and what is wanted of them.

use ego_tree::{NodeRef, iter::Edge};
use phasm_sdk::{prelude::*, serde_json::Map};
use scraper::{ElementRef, Html, Node};

use crate::{
    Task,
    limits::{Budget, MAX_DEPTH, failed},
    query::{FieldQuery, Query, Want},
};

/// Elements whose text is not shown.
const UNSEEN: [&str; 4] = ["script", "style", "template", "noscript"];

/// Extracts a result for each element.
pub(crate) fn all(query: &Query, task: &Task) -> Result<Vec<Value>> {
    let page = Html::parse_document(&task.html);
    check_depth(&page)?;
    let mut budget = Budget::new(task.max_bytes);
    let mut results = Vec::new();
    for element in page.select(&query.selector).take(task.limit.unwrap_or(usize::MAX)) {
        if results.len() >= task.max_matches {
            return Err(failed(format!(
                "there are more than {} matches; `maxMatches` sets the limit, and `limit` ends the search earlier",
                task.max_matches
            )));
        }
        results.push(if query.fields.is_empty() {
            value(element, &query.want, &mut budget)?
        } else {
            let mut fields = Map::new();
            for field in &query.fields {
                fields.insert(field.name.clone(), field_value(element, field, &mut budget)?);
            }
            Value::Object(fields)
        });
    }
    Ok(results)
}

/// Refuses pages whose elements are nested without end.
fn check_depth(page: &Html) -> Result<()> {
    let mut depth = 0_usize;
    for edge in page.tree.root().traverse() {
        match edge {
            Edge::Open(_) => depth += 1,
            Edge::Close(_) => depth = depth.saturating_sub(1),
        }
        if depth > MAX_DEPTH {
            return Err(failed(format!("the elements of the page are nested more than {MAX_DEPTH} deep")));
        }
    }
    Ok(())
}

fn field_value(element: ElementRef<'_>, field: &FieldQuery, budget: &mut Budget) -> Result<Value> {
    budget.take(field.name.len())?;
    let Some(selector) = &field.selector else { return value(element, &field.want, budget) };
    if field.all {
        let values: Result<Vec<Value>> =
            element.select(selector).map(|found| value(found, &field.want, budget)).collect();
        return Ok(Value::Array(values?));
    }
    element.select(selector).next().map_or(Ok(Value::Null), |found| value(found, &field.want, budget))
}

fn value(element: ElementRef<'_>, want: &Want, budget: &mut Budget) -> Result<Value> {
    let text = match want {
        Want::Text => text(element),
        Want::Attribute(name) => match element.attr(name) {
            Some(text) => text.to_owned(),
            None => return Ok(Value::Null),
        },
        Want::Inner => element.inner_html(),
        Want::Outer => element.html(),
    };
    budget.take(text.len().saturating_add(1))?;
    Ok(text.into())
}

/// The text of an element as it is shown: blanks are one, and there are no scripts.
fn text(element: ElementRef<'_>) -> String {
    let is_seen = |node: &NodeRef<'_, Node>| {
        let parent = node.parent().and_then(|parent| parent.value().as_element().map(|one| one.name()));
        // The script itself may be what was selected.
        parent.is_none_or(|parent| {
            !UNSEEN.contains(&parent) || node.parent().map(|one| one.id()) == Some(element.id())
        })
    };
    let parts = element.descendants().filter(is_seen).filter_map(|node| node.value().as_text());
    let mut words = String::new();
    for part in parts {
        words.push_str(part);
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}
