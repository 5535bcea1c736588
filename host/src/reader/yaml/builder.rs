//! Trees from parser events.

use std::{collections::BTreeMap, rc::Rc, sync::Arc};

use phasm_engine::{
    path::Path,
    problem::codes::source as entries,
    tree::{Key, Span, Spelling, Style, Tree, TreeNode},
};
use saphyr_parser::{Event, ScalarStyle, Span as ParserSpan, Tag};

use super::{
    super::{Fatal, Reading, Size, SourceText, check_depth, number},
    scalar::{self, ScalarError},
};

/// The tree so far.
pub(super) struct TreeBuilder<'a> {
    source: &'a SourceText<'a>,
    findings: Reading,
    open: Vec<Frame>,
    root: Option<Tree>,
    anchors: BTreeMap<usize, Rc<AnchorValue>>,
}

/// A list or object whose end has not come yet.
struct Frame {
    content: Content,
    start: Span,
    path: Path,
    anchor: usize,
    before: Size,
    /// Levels below it.
    height: usize,
}

enum Content {
    Array(Vec<Tree>),
    Object { members: Vec<(Key, Tree)>, key: Option<Key> },
}

/// The value that an alias repeats.
struct AnchorValue {
    tree: Tree,
    size: Size,
    height: usize,
}

impl<'a> TreeBuilder<'a> {
    pub(super) fn new(source: &'a SourceText<'a>) -> Self {
        Self { source, findings: Reading::default(), open: Vec::new(), root: None, anchors: BTreeMap::new() }
    }

    pub(super) fn findings(&mut self) -> &mut Reading {
        &mut self.findings
    }

    pub(super) fn into_findings(self) -> Reading {
        self.findings
    }

    pub(super) fn take_root(&mut self) -> Option<Tree> {
        self.root.take()
    }

    /// Where the innermost bracket or brace stands that is open, in bytes of the text.
    pub(super) fn bracket(&self) -> Option<usize> {
        let starts = self.open.iter().rev().map(|frame| frame.start);
        let mut brackets = starts.filter(|start| self.source.text_from(*start).starts_with(['[', '{']));
        brackets.next().map(|start| self.source.offset(start))
    }

    pub(super) fn position(&self, span: ParserSpan) -> Span {
        let (start, end) = (span.start.index(), span.end.index());
        self.source.span(self.source.byte_at(start), self.source.byte_at(end))
    }

    pub(super) fn handle(&mut self, event: Event<'_>, span: ParserSpan) -> Result<(), Fatal> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(&text, style, anchor, tag.as_deref(), span)
            }
            Event::SequenceStart(anchor, tag) => {
                self.check_collection_tag(tag.as_deref(), "seq", span);
                self.open(Content::Array(Vec::new()), anchor, span)
            }
            Event::MappingStart(anchor, tag) => {
                self.check_collection_tag(tag.as_deref(), "map", span);
                self.open(Content::Object { members: Vec::new(), key: None }, anchor, span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    /// Where the next value will stand.
    fn path(&self) -> Path {
        let Some(frame) = self.open.last() else { return Path::root() };
        match &frame.content {
            Content::Array(items) => frame.path.index(items.len()),
            Content::Object { key: Some(key), .. } => frame.path.key(key.name.clone()),
            Content::Object { key: None, .. } => frame.path.clone(),
        }
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: ParserSpan,
    ) -> Result<(), Fatal> {
        let plain = style == ScalarStyle::Plain;
        let span = self.scalar_position(text, plain, span);
        let size = Size::one(text);
        self.findings.count(size, || span)?;
        if plain && tag.is_none() && text == "<<" && self.expects_key() {
            let message = "merge key `<<`; expected the members themselves";
            let hint = "write the members out, or quote the key if it is meant as text";
            self.findings.report(&entries::UNSUPPORTED_YAML, &self.path(), span, message, hint);
        }
        let full = tag.map(full_tag);
        let resolved = match &full {
            Some(tag) => scalar::resolve_tagged(text, tag),
            None => scalar::resolve(text, plain),
        };
        let node = resolved.unwrap_or_else(|refused| self.refused(&refused, text, full.as_deref(), span));
        let written = if let TreeNode::String(said) = &node { self.written(said, style, span) } else { None };
        let tree = Tree { written, ..Tree::new(node, span) };
        self.remember(anchor, &tree, size, 0)?;
        self.place(tree, 0);
        Ok(())
    }

    /// Nothing written is shown at the key it belongs to. The parser ends a plain scalar behind the space that follows.
    fn scalar_position(&self, text: &str, plain: bool, span: ParserSpan) -> Span {
        let found = self.position(span);
        match self.open.last().map(|frame| &frame.content) {
            Some(Content::Object { key: Some(key), .. }) if plain && text.is_empty() => key.span,
            _ if plain && self.source.text_from(found).starts_with(text) => {
                Span { end: found.start + text.len(), ..found }
            }
            _ => found,
        }
    }

    /// How `said` is written, unless it is letter by letter what stands there, quotes aside.
    fn written(&self, said: &str, style: ScalarStyle, span: Span) -> Option<Arc<Spelling>> {
        let source = self.source.text_from(span).get(..span.end - span.start)?;
        let (style, inside) = match style {
            ScalarStyle::SingleQuoted => (Style::Single, source.get(1..source.len().checked_sub(1)?)?),
            ScalarStyle::DoubleQuoted => (Style::Double, source.get(1..source.len().checked_sub(1)?)?),
            ScalarStyle::Plain | ScalarStyle::Literal | ScalarStyle::Folded => (Style::Plain, source),
        };
        (inside != said).then(|| Arc::new(Spelling { style, source: source.into() }))
    }

    fn refused(&mut self, refused: &ScalarError, text: &str, tag: Option<&str>, span: Span) -> TreeNode {
        let path = self.path();
        match refused {
            ScalarError::Number => {
                let message = number::complaint(text);
                self.findings.report(&entries::NUMBER_RANGE, &path, span, message, number::HINT);
            }
            ScalarError::Tag => self.wrong_tag(tag.unwrap_or_default(), &path, span),
        }
        TreeNode::Null
    }

    fn wrong_tag(&mut self, tag: &str, path: &Path, span: Span) {
        let message =
            format!("tag `{tag}` on this value; expected no tag, or one of the core schema that fits");
        let hint = if tag.starts_with('!') {
            "remove the tag, or put a text that begins with `!` in quotes"
        } else {
            "remove the tag"
        };
        self.findings.report(&entries::UNSUPPORTED_YAML, path, span, message, hint);
    }

    fn check_collection_tag(&mut self, tag: Option<&Tag>, kind: &str, span: ParserSpan) {
        let Some(tag) = tag.map(full_tag) else { return };
        if tag != "!" && tag.strip_prefix("tag:yaml.org,2002:") != Some(kind) {
            let (path, span) = (self.path(), self.position(span));
            self.wrong_tag(&tag, &path, span);
        }
    }

    fn open(&mut self, content: Content, anchor: usize, span: ParserSpan) -> Result<(), Fatal> {
        let start = self.position(span);
        check_depth(self.open.len() + 1, start)?;
        let before = self.findings.size;
        self.findings.count(Size::one(""), || start)?;
        let path = self.path();
        self.open.push(Frame { content, start, path, anchor, before, height: 1 });
        Ok(())
    }

    fn close(&mut self, span: ParserSpan) -> Result<(), Fatal> {
        let Some(frame) = self.open.pop() else { return Ok(()) };
        let node = match frame.content {
            // Most have one or two, and a vector begins with room for four.
            Content::Array(mut items) => {
                items.shrink_to_fit();
                TreeNode::Array(items)
            }
            Content::Object { mut members, .. } => {
                members.shrink_to_fit();
                TreeNode::Object(members)
            }
        };
        // Block collections end with their last value, flow collections with their bracket.
        let closing = self.position(span);
        let is_flow = closing.end > closing.start && self.source.text_from(closing).starts_with(['}', ']']);
        let written = if is_flow { Some(closing.start + 1) } else { last_end(&node) };
        let end = written.unwrap_or(frame.start.end);
        let tree = Tree::new(node, Span { end, ..frame.start });
        self.remember(frame.anchor, &tree, self.findings.size.since(frame.before), frame.height)?;
        self.place(tree, frame.height);
        Ok(())
    }

    /// Keeps what an alias may repeat. The copy's values count like written ones; its texts are shared.
    fn remember(&mut self, anchor: usize, tree: &Tree, size: Size, height: usize) -> Result<(), Fatal> {
        if anchor != 0 {
            self.findings.count(Size { bytes: 0, ..size }, || tree.span)?;
            self.anchors.insert(anchor, Rc::new(AnchorValue { tree: tree.clone(), size, height }));
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize, span: ParserSpan) -> Result<(), Fatal> {
        let span = self.position(span);
        let Some(anchored) = self.anchors.get(&anchor).cloned() else {
            let message = "alias to something that contains it; expected an alias to a finished value";
            self.findings.report(
                &entries::UNSUPPORTED_YAML,
                &self.path(),
                span,
                message,
                "write the value out",
            );
            self.place(Tree::new(TreeNode::Null, span), 0);
            return Ok(());
        };
        self.findings.count(anchored.size, || span)?;
        check_depth(self.open.len() + anchored.height, span)?;
        self.place(anchored.tree.clone(), anchored.height);
        Ok(())
    }

    fn expects_key(&self) -> bool {
        matches!(self.open.last(), Some(Frame { content: Content::Object { key: None, .. }, .. }))
    }

    /// Puts a finished value where it belongs: into the open list or object, as its key, or at the root.
    fn place(&mut self, tree: Tree, height: usize) {
        if self.expects_key() {
            let key = self.key(&tree);
            if let Some(Frame { content: Content::Object { key: slot, .. }, .. }) = self.open.last_mut() {
                *slot = Some(key);
            }
            return;
        }
        let Some(frame) = self.open.last_mut() else {
            self.root = Some(tree);
            return;
        };
        frame.height = frame.height.max(height + 1);
        match &mut frame.content {
            Content::Array(items) => items.push(tree),
            Content::Object { members, key } => members.extend(key.take().map(|key| (key, tree))),
        }
    }

    fn key(&mut self, tree: &Tree) -> Key {
        if let TreeNode::String(name) = &tree.node {
            return Key { name: name.clone(), span: tree.span };
        }
        let value = tree.to_value();
        let message = format!("key of type {}; expected text", value.type_name());
        // `x: {{ y }}` is an object whose key is an object.
        let hint = match tree.node {
            TreeNode::Object(_) => "if a placeholder is meant, put it in quotes: `\"{{ … }}\"`",
            TreeNode::Null
            | TreeNode::Bool(_)
            | TreeNode::Number(_)
            | TreeNode::String(_)
            | TreeNode::Array(_) => "quote the key",
        };
        self.findings.report(&entries::KEY_NOT_TEXT, &self.path(), tree.span, message, hint);
        Key { name: Arc::from(value.to_json()), span: tree.span }
    }
}

fn full_tag(tag: &Tag) -> String {
    format!("{}{}", tag.handle, tag.suffix)
}

fn last_end(node: &TreeNode) -> Option<usize> {
    match node {
        TreeNode::Array(items) => items.last().map(|tree| tree.span.end),
        TreeNode::Object(members) => members.last().map(|(_, tree)| tree.span.end),
        TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) | TreeNode::String(_) => None,
    }
}
