//! Schemas as JSON.

use super::{Doc, Field, Schema, default::Plain, writer::Writer};

#[expect(
    clippy::indexing_slicing,
    reason = "the loops check the bounds; constant functions have no iterators"
)]
impl<const N: usize> Writer<N> {
    /// The schema of a value that has no name.
    pub(crate) const fn schema(&mut self, schema: &Schema) {
        self.byte(b'{');
        self.members(schema, false, &[]);
        self.byte(b'}');
    }

    const fn field(&mut self, field: &Field) {
        self.key(field.name);
        self.byte(b'{');
        self.members(field.schema, !field.is_required(), field.doc);
        if let Some(default) = field.default
            && let Some(default) = Plain::of(default, field.schema)
        {
            self.key("default");
            self.default(default);
        }
        self.byte(b'}');
    }

    const fn default(&mut self, default: Plain) {
        match default {
            Plain::Whole(number) => self.digits(number),
            Plain::Json(json) => self.raw(json),
            Plain::Digits(text) => self.without_underscores(text),
            Plain::Text(text) => {
                self.byte(b'"');
                self.raw_bytes(text);
                self.byte(b'"');
            }
        }
    }

    const fn without_underscores(&mut self, text: &[u8]) {
        let mut at = 0;
        while at < text.len() {
            if text[at] != b'_' {
                self.byte(text[at]);
            }
            at += 1;
        }
    }

    const fn members(&mut self, schema: &Schema, nullable: bool, doc: Doc) {
        match schema {
            Schema::Optional(schema) => return self.members(schema, true, doc),
            Schema::Any => {}
            Schema::Boolean => self.types(&["boolean"], nullable),
            Schema::String => self.types(&["string"], nullable),
            Schema::Number => self.types(&["number"], nullable),
            Schema::Duration => {
                self.types(&["string", "integer"], nullable);
                self.bound("minimum", Some(0));
                self.key("format");
                self.string("phasm-duration");
            }
            Schema::Integer { min, max } => {
                self.types(&["integer"], nullable);
                self.bound("minimum", *min);
                self.bound("maximum", *max);
            }
            Schema::Choice { words, .. } => self.choice(words, nullable),
            Schema::List(items) => {
                self.types(&["array"], nullable);
                self.key("items");
                self.schema(items);
            }
            Schema::Map(values) => {
                self.types(&["object"], nullable);
                self.key("additionalProperties");
                self.schema(values);
            }
            Schema::Object { doc: own, fields, open } => {
                self.types(&["object"], nullable);
                self.object(fields, *open);
                return self.description(if has_text(doc) { doc } else { own });
            }
        }
        self.description(doc);
    }

    const fn types(&mut self, types: &[&str], nullable: bool) {
        self.key("type");
        if types.len() == 1 && !nullable {
            return self.string(types[0]);
        }
        self.byte(b'[');
        self.strings(types);
        if nullable {
            self.raw(",\"null\"");
        }
        self.byte(b']');
    }

    const fn bound(&mut self, name: &str, bound: Option<i64>) {
        if let Some(bound) = bound {
            self.key(name);
            self.number(bound);
        }
    }

    const fn choice(&mut self, words: &[&str], nullable: bool) {
        self.types(&["string"], nullable);
        self.key("enum");
        self.byte(b'[');
        self.strings(words);
        if nullable {
            self.raw(",null");
        }
        self.byte(b']');
    }

    const fn object(&mut self, fields: &[Field], open: bool) {
        self.key("properties");
        self.byte(b'{');
        let mut at = 0;
        while at < fields.len() {
            self.field(&fields[at]);
            at += 1;
        }
        self.byte(b'}');
        self.required(fields);
        self.key("additionalProperties");
        self.raw(if open { "true" } else { "false" });
    }

    const fn required(&mut self, fields: &[Field]) {
        self.key("required");
        self.byte(b'[');
        let mut at = 0;
        while at < fields.len() {
            if fields[at].is_required() {
                self.next();
                self.string(fields[at].name);
            }
            at += 1;
        }
        self.byte(b']');
    }

    /// Lines have the space before them that follows `///`.
    const fn description(&mut self, mut lines: Doc) {
        if !has_text(lines) {
            return;
        }
        self.key("description");
        self.byte(b'"');
        let mut begun = false;
        while let [line, more @ ..] = lines {
            if let Some(line) = line {
                if begun {
                    self.raw("\\n");
                }
                self.escaped(without_space(line.as_bytes()));
                begun = true;
            }
            lines = more;
        }
        self.byte(b'"');
    }
}

const fn has_text(mut lines: Doc) -> bool {
    while let [line, more @ ..] = lines {
        if line.is_some() {
            return true;
        }
        lines = more;
    }
    false
}

const fn without_space(line: &[u8]) -> &[u8] {
    if let [b' ', line @ ..] = line { line } else { line }
}
