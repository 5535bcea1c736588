//! A strict JSON reader (RFC 8259) that keeps positions and duplicate keys.

mod string;

use std::sync::Arc;

use phasm_engine::{
    path::Path,
    problem::Problem,
    problem::codes::source as entries,
    tree::{Key, Span, Spelling, Style, Tree, TreeNode},
};

use super::{Fatal, Reading, Size, SourceText, check_depth, number, syntax};

pub(super) fn read(source: &SourceText<'_>) -> Result<Tree, Vec<Problem>> {
    let mut reader =
        Reader { source, at: 0, path: Path::root(), depth: 0, opening: 0, findings: Reading::default() };
    let tree = reader.document();
    reader.findings.finish(tree)
}

struct Reader<'a> {
    source: &'a SourceText<'a>,
    /// Bytes already read.
    at: usize,
    path: Path,
    depth: usize,
    /// The innermost bracket or brace that is open.
    opening: usize,
    findings: Reading,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Tree, Fatal> {
        let tree = self.value()?;
        self.skip_space();
        if self.at < self.source.text().len() {
            return Err(self.unexpected("the end of the text", None));
        }
        Ok(tree)
    }

    fn value(&mut self) -> Result<Tree, Fatal> {
        self.skip_space();
        let start = self.at;
        let source = self.source;
        self.findings.count(Size::one(""), || source.span(start, start))?;
        let node = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => TreeNode::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => self.word()?,
            _ => return Err(self.unexpected("a value", self.hint_for_value().as_deref())),
        };
        let span = self.source.span(start, self.at);
        let written = if let TreeNode::String(said) = &node { self.written(said, start) } else { None };
        Ok(Tree { written, ..Tree::new(node, span) })
    }

    /// How the text that starts at `start` is written, if that takes escapes.
    fn written(&self, said: &str, start: usize) -> Option<Arc<Spelling>> {
        let source = self.text_until_here(start);
        (source.len() != said.len() + 2)
            .then(|| Arc::new(Spelling { style: Style::Double, source: source.into() }))
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<TreeNode, Fatal>) -> Result<TreeNode, Fatal> {
        self.depth += 1;
        check_depth(self.depth, self.here())?;
        let outer = std::mem::replace(&mut self.opening, self.at);
        self.at += 1;
        let node = read(self)?;
        self.opening = outer;
        self.depth -= 1;
        Ok(node)
    }

    fn object(&mut self) -> Result<TreeNode, Fatal> {
        let mut members = Vec::new();
        self.skip_space();
        if self.take(b'}') {
            return Ok(TreeNode::Object(members));
        }
        loop {
            let key = self.key(members.is_empty())?;
            let value = self.at_path(self.path.key(key.name.clone()))?;
            members.push((key, value));
            self.skip_space();
            if self.take(b'}') {
                // Most have one or two, and a vector begins with room for four.
                members.shrink_to_fit();
                return Ok(TreeNode::Object(members));
            }
            self.comma("`,` or `}`")?;
        }
    }

    fn key(&mut self, first: bool) -> Result<Key, Fatal> {
        self.skip_space();
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a key in double quotes", self.hint_for_key(first).as_deref()));
        }
        let name = self.string()?;
        let span = self.source.span(start, self.at);
        self.skip_space();
        if !self.take(b':') {
            return Err(self.unexpected("`:` after the key", self.hint_for_end().as_deref()));
        }
        Ok(Key { name, span })
    }

    fn array(&mut self) -> Result<TreeNode, Fatal> {
        let mut items = Vec::new();
        self.skip_space();
        if self.take(b']') {
            return Ok(TreeNode::Array(items));
        }
        loop {
            items.push(self.at_path(self.path.index(items.len()))?);
            self.skip_space();
            if self.take(b']') {
                items.shrink_to_fit();
                return Ok(TreeNode::Array(items));
            }
            self.comma("`,` or `]`")?;
        }
    }

    /// The value that stands at `path`.
    fn at_path(&mut self, path: Path) -> Result<Tree, Fatal> {
        let parent = std::mem::replace(&mut self.path, path);
        let tree = self.value()?;
        self.path = parent;
        Ok(tree)
    }

    fn comma(&mut self, expected: &str) -> Result<(), Fatal> {
        if self.take(b',') {
            Ok(())
        } else {
            Err(self.unexpected(expected, self.hint_for_comma().as_deref()))
        }
    }

    fn number(&mut self) -> Result<TreeNode, Fatal> {
        let start = self.at;
        self.take(b'-');
        let leading_zero = self.peek() == Some(b'0');
        let whole = self.digits()?;
        if leading_zero && whole > 1 {
            return Err(self.wrong(start, "number with a leading zero; expected none", None));
        }
        let mut is_integer = true;
        if self.take(b'.') {
            is_integer = false;
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            is_integer = false;
            let _sign = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        let text = self.source.text().get(start..self.at).unwrap_or_default();
        let kept = if is_integer { number::integer(text, 10) } else { number::double(text) };
        Ok(kept.map_or_else(|| self.no_number(start, text), TreeNode::Number))
    }

    fn no_number(&mut self, start: usize, text: &str) -> TreeNode {
        let span = self.source.span(start, self.at);
        self.findings.report(&entries::NUMBER_RANGE, &self.path, span, number::complaint(text), number::HINT);
        TreeNode::Null
    }

    /// At least one digit; how many.
    fn digits(&mut self) -> Result<usize, Fatal> {
        let start = self.at;
        self.skip_while(|byte| byte.is_ascii_digit());
        if self.at == start {
            return Err(self.unexpected("a digit", None));
        }
        Ok(self.at - start)
    }

    fn word(&mut self) -> Result<TreeNode, Fatal> {
        let start = self.at;
        self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        match self.source.text().get(start..self.at).unwrap_or_default() {
            "null" => Ok(TreeNode::Null),
            "true" => Ok(TreeNode::Bool(true)),
            "false" => Ok(TreeNode::Bool(false)),
            word => {
                let message =
                    format!("`{word}` where a value belongs; expected null, true, false or text in quotes");
                Err(self.wrong(start, message, Some(&hint_for_word(word))))
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.source.text().as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.at += 1;
        }
    }

    fn skip_space(&mut self) {
        self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }

    /// The position of the next character.
    fn here(&self) -> Span {
        let length = self.next_char().map_or(0, char::len_utf8);
        self.source.span(self.at, self.at + length)
    }

    fn next_char(&self) -> Option<char> {
        self.source.text().get(self.at..).and_then(|rest| rest.chars().next())
    }

    fn unexpected(&self, expected: &str, hint: Option<&str>) -> Fatal {
        let found = self.next_char().map_or("the end of the text".to_owned(), |c| format!("{c:?}"));
        let problem = syntax(self.here(), format!("found {found}; expected {expected}"));
        Box::new(hint.map_or(problem.clone(), |hint| problem.with_hint(hint)))
    }

    fn wrong(&self, start: usize, message: impl Into<String>, hint: Option<&str>) -> Fatal {
        let problem = syntax(self.source.span(start, self.at), message);
        Box::new(hint.map_or(problem.clone(), |hint| problem.with_hint(hint)))
    }

    fn hint_for_value(&self) -> Option<String> {
        let hint = match self.peek() {
            None => return self.hint_for_end(),
            Some(b']' | b'}' | b',') => "JSON allows no comma without a value behind it",
            Some(b'\'') => "JSON texts stand in double quotes",
            Some(b'/' | b'#') => "JSON has no comments",
            Some(b'+' | b'.') => "JSON numbers start with a digit or `-`",
            Some(_) => return None,
        };
        Some(hint.to_owned())
    }

    fn hint_for_key(&self, first: bool) -> Option<String> {
        let hint = match self.peek() {
            None => return self.hint_for_end(),
            Some(b'}') if !first => "JSON allows no comma behind the last member",
            Some(b',') => "JSON allows no comma without a member behind it",
            Some(b'/' | b'#') => "JSON has no comments",
            Some(_) => "JSON keys stand in double quotes",
        };
        Some(hint.to_owned())
    }

    fn hint_for_comma(&self) -> Option<String> {
        let hint = match self.peek() {
            None => return self.hint_for_end(),
            Some(b'/' | b'#') => "JSON has no comments",
            Some(b']' | b'}') => {
                "brackets and braces close in the order in which they were opened, the last first"
            }
            Some(b':') => "a member's name and its `:` stand between braces",
            Some(_) => "put commas between values",
        };
        Some(hint.to_owned())
    }

    /// A hint about the part that the end of the text leaves open.
    fn hint_for_end(&self) -> Option<String> {
        let opening = self.source.span(self.opening, self.opening);
        let sign = char::from(*self.source.text().as_bytes().get(self.opening)?);
        let is_open = self.peek().is_none() && self.depth > 0;
        let Span { line, column, .. } = opening;
        is_open.then(|| format!("close the `{sign}` in line {line}, column {column}"))
    }

    fn text_until_here(&self, start: usize) -> &'a str {
        self.source.text().get(start..self.at).unwrap_or_default()
    }

    fn string(&mut self) -> Result<Arc<str>, Fatal> {
        string::read(self)
    }
}

fn hint_for_word(word: &str) -> String {
    let lower = word.to_ascii_lowercase();
    match &*lower {
        "true" | "false" | "null" => format!("write `{lower}`"),
        "none" | "nil" | "undefined" => "write `null`".to_owned(),
        "nan" | "inf" | "infinity" => {
            "JSON has finite numbers only; write `null`, or the text in quotes".to_owned()
        }
        _ => "JSON texts stand in double quotes".to_owned(),
    }
}
