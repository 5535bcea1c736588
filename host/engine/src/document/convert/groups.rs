//! Parameters under their names, in place of lists of entries.

use crate::tree::{Key, Tree, TreeNode};

use super::{Edits, items, member, members};

/// The fields that hold parameters, and the meaning of a value that stands alone under a name.
const GROUPS: [(&str, &str); 3] = [("inputs", "value"), ("arguments", "value"), ("outputs", EXPRESSION)];

/// The meaning of a value that stands alone in `outputs`.
const EXPRESSION: &str = "valueFrom";

/// The layout of a group.
struct Layout {
    /// Quotation mark of keys.
    quote: &'static str,
    /// Spaces before a line; absent in braces.
    indent: Option<usize>,
}

impl Edits<'_> {
    /// Rewrites `spec.arguments` as `spec.parameters`.
    pub(super) fn parameters_of_run(&mut self, spec: &Tree) {
        let Some((key, arguments)) = members(spec).iter().find(|(key, _)| &*key.name == "arguments") else {
            return;
        };
        let Some((_, list)) = only_parameters(arguments) else { return };
        let layout = self.layout(arguments);
        let Some(entries) = self.entries(list, "default", &layout) else { return };
        if self.replace_group(arguments, &entries, &layout) {
            let quote = self.quote_of(key.span);
            self.replace(key.span, format!("{quote}parameters{quote}"));
        }
    }

    /// Rewrites the parameters of a template, a task or a hook.
    pub(super) fn groups(&mut self, object: &Tree) {
        for (name, alone) in GROUPS {
            let Some(group) = member(object, name) else { continue };
            let Some((key, list)) = only_parameters(group) else { continue };
            let layout = self.layout(group);
            if let Some(entries) = self.short(list, name, alone) {
                self.replace_group(group, &entries, &layout);
            } else {
                let inside = Layout { indent: layout.indent.map(|indent| indent + 2), ..layout };
                let alone = if name == "inputs" { "default" } else { alone };
                if let Some(entries) = self.entries(list, alone, &inside) {
                    self.replace_list(key, list, &entries, &inside);
                }
            }
        }
    }

    fn layout(&self, group: &Tree) -> Layout {
        let quote = members(group).first().map_or("", |(key, _)| self.quote_of(key.span));
        let indent = members(group).first().map(|(key, _)| key.span.column.saturating_sub(1) as usize);
        Layout { quote, indent: indent.filter(|_| !self.is_flow(group)) }
    }

    /// The members of a group without `parameters`, if every entry can stand under its name with its value alone.
    fn short(&self, list: &Tree, group: &str, alone: &str) -> Option<Vec<[String; 2]>> {
        let entry = |entry: &Tree| {
            let name = self.name(entry)?;
            let is_reserved = member(entry, "name")
                .is_some_and(|name| ["parameters", "artifacts"].iter().any(|word| is_text(name, word)));
            let value = match members(entry) {
                [_] if group != "arguments" => String::new(),
                [_, _] => self.alone(entry, alone)?,
                _ => return None,
            };
            (!is_reserved).then_some([name, value])
        };
        items(Some(list)).iter().map(entry).collect()
    }

    /// The value of an entry that has no other field than its name and this one.
    fn alone(&self, entry: &Tree, field: &str) -> Option<String> {
        let value = member(entry, field)?;
        if field != EXPRESSION {
            // Null alone says something else.
            return (!matches!(value.node, TreeNode::Null)).then(|| self.source(value))?;
        }
        match members(value) {
            [(key, source)] if ["expression", "path", "parameter"].contains(&&*key.name) => {
                self.source(source)
            }
            _ => None,
        }
    }

    /// The members of an object of entries.
    fn entries(&self, list: &Tree, alone: &str, layout: &Layout) -> Option<Vec<[String; 2]>> {
        let entry = |entry: &Tree| {
            let name = self.name(entry)?;
            let is_object =
                member(entry, alone).is_some_and(|value| matches!(value.node, TreeNode::Object(_)));
            let value = match members(entry) {
                [_] if alone != "value" => String::new(),
                [_, _] if member(entry, alone).is_some() && (!is_object || alone == EXPRESSION) => {
                    self.alone(entry, alone).or_else(|| self.fields(entry, layout))?
                }
                _ => self.fields(entry, layout)?,
            };
            Some([name, value])
        };
        items(Some(list)).iter().map(entry).collect()
    }

    /// The fields of an entry besides its name, in braces.
    fn fields(&self, entry: &Tree, layout: &Layout) -> Option<String> {
        let fields = members(entry).iter().filter(|(key, _)| &*key.name != "name");
        let mut written = Vec::new();
        for (key, value) in fields {
            let source = self.source(value)?;
            let is_safe =
                self.is_flow(entry) || self.is_flow(value) || is_plain_word(&source) || is_quoted(&source);
            if !is_safe {
                return None;
            }
            let (quote, name) = (layout.quote, &key.name);
            written.push(format!("{quote}{name}{quote}: {source}"));
        }
        (!written.is_empty()).then(|| format!("{{{}}}", written.join(", ")))
    }

    /// The name of an entry, as a key of the same layout.
    fn name(&self, entry: &Tree) -> Option<String> {
        let TreeNode::Object(_) = entry.node else { return None };
        self.source(member(entry, "name")?)
    }

    /// The source of a value on one line, without comments, and with the edits inside of it.
    fn source(&self, value: &Tree) -> Option<String> {
        let is_scalar = !matches!(value.node, TreeNode::Array(_) | TreeNode::Object(_));
        if !is_scalar && !self.is_flow(value) {
            return None;
        }
        let source = self.edited(value.span.start, value.span.end)?.trim_end().to_owned();
        let is_simple = !source.is_empty()
            && !source.contains(['\n', '#'])
            && !source.starts_with(['|', '>', '&', '*', '!', '%', '@', '`']);
        is_simple.then_some(source)
    }

    fn is_flow(&self, tree: &Tree) -> bool {
        matches!(self.text.as_bytes().get(tree.span.start), Some(b'{' | b'['))
    }

    fn replace_group(&mut self, group: &Tree, entries: &[[String; 2]], layout: &Layout) -> bool {
        let start = if layout.indent.is_some() {
            members(group).first().map_or(group.span.start, |(key, _)| key.span.start)
        } else {
            group.span.start
        };
        self.replace_block(start, group, entries, layout)
    }

    /// Replaces the list alone, which keeps its key.
    fn replace_list(&mut self, key: &Key, list: &Tree, entries: &[[String; 2]], layout: &Layout) {
        let layout = if self.is_flow(list) {
            Layout { indent: None, quote: layout.quote }
        } else {
            // On lines of its own, below the key.
            Layout {
                indent: layout.indent.map(|_| key.span.column.saturating_sub(1) as usize + 2),
                ..*layout
            }
        };
        if layout.indent.is_none() {
            self.replace_block(list.span.start, list, entries, &layout);
            return;
        }
        let Some(line) = self.text.get(..list.span.start).and_then(|before| before.rfind('\n')) else {
            return;
        };
        let indent = layout.indent.unwrap_or_default();
        let end = self.end(list);
        if self.may_replace(line, end) {
            self.drop_within(line, end);
            let lines = written(entries, layout.quote, &format!("\n{:indent$}", ""));
            self.by_place.insert((line, end), format!("\n{:indent$}{lines}", ""));
        }
    }

    fn replace_block(&mut self, start: usize, tree: &Tree, entries: &[[String; 2]], layout: &Layout) -> bool {
        let end = self.end(tree);
        if entries.is_empty() || !self.may_replace(start, end) {
            return false;
        }
        let text = match layout.indent {
            Some(indent) => written(entries, layout.quote, &format!("\n{:indent$}", "")),
            None if self.text.get(start..end).is_some_and(|old| old.starts_with("{ ")) => {
                format!("{{ {} }}", written(entries, layout.quote, ", "))
            }
            None => format!("{{{}}}", written(entries, layout.quote, ", ")),
        };
        self.drop_within(start, end);
        self.by_place.insert((start, end), text);
        true
    }

    /// Whether nothing is lost: there is no comment.
    fn may_replace(&self, start: usize, end: usize) -> bool {
        !self.is_shared(start, end)
            && self.text.get(start..end).is_some_and(|old| !old.contains(" #") && !old.contains("\n#"))
    }

    /// Behind the last character of a value: the span of a value on lines of its own may go on to the next one.
    fn end(&self, tree: &Tree) -> usize {
        let last = match &tree.node {
            TreeNode::Array(items) => items.last(),
            TreeNode::Object(members) => members.last().map(|(_, value)| value),
            TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) | TreeNode::String(_) => None,
        };
        match last {
            Some(last) if !self.is_flow(tree) => self.end(last),
            Some(_) | None => tree.span.end,
        }
    }

    fn drop_within(&mut self, start: usize, end: usize) {
        self.by_place.retain(|(first, last), _| *first < start || *last > end);
    }
}

/// The list of `parameters`, where that is all that the group has.
fn only_parameters(group: &Tree) -> Option<(&Key, &Tree)> {
    match members(group) {
        [(key, list)] if &*key.name == "parameters" && matches!(list.node, TreeNode::Array(_)) => {
            Some((key, list))
        }
        _ => None,
    }
}

fn written(entries: &[[String; 2]], quote: &str, between: &str) -> String {
    let null = if quote == "\"" { "null" } else { "" };
    let in_braces = between == ", ";
    let member = |[name, value]: &[String; 2]| match value.as_str() {
        "" if null.is_empty() && in_braces => format!("{name}: "),
        "" if null.is_empty() => format!("{name}:"),
        "" => format!("{name}: {null}"),
        value => format!("{name}: {value}"),
    };
    entries.iter().map(member).collect::<Vec<_>>().join(between)
}

fn is_text(tree: &Tree, word: &str) -> bool {
    matches!(&tree.node, TreeNode::String(text) if **text == *word)
}

/// Whether a text reads the same in braces without quotes.
fn is_plain_word(source: &str) -> bool {
    source.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ' ' | '+'))
}

fn is_quoted(source: &str) -> bool {
    source.starts_with(['"', '\''])
}
