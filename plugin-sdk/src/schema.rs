//! JSON Schemas of an executor's inputs and outputs, put together while the executor is compiled.
//!
//! [`inputs!`](crate::inputs!) and [`executor!`](crate::executor!) write it into the plugin's manifest, so that a document
//! is checked against it when it is submitted. A type that has no [`HasSchema`] may be anything.

mod default;
mod describe;
#[doc(hidden)]
pub mod probe;
mod types;
mod writer;

pub(crate) use self::writer::Writer;

/// Schema of a value.
#[derive(Clone, Copy, Debug)]
pub enum Schema {
    /// Anything.
    Any,
    /// `true` or `false`.
    Boolean,
    /// A text.
    String,
    /// A number.
    Number,
    /// A whole number.
    Integer {
        /// Minimum; `None` where the type has no minimum that a workflow could go below.
        min: Option<i64>,
        /// Maximum; `None` where the type has none that JSON could exceed.
        max: Option<i64>,
    },
    /// A duration as workflows write it: a text, or milliseconds.
    Duration,
    /// One of a few words.
    Choice {
        /// Spellings in the workflow.
        words: &'static [&'static str],
        /// Rust variants, in the order of `words`.
        variants: &'static [&'static str],
    },
    /// A list of such values.
    List(&'static Schema),
    /// An object with any fields of such values.
    Map(&'static Schema),
    /// An object with these fields.
    Object {
        /// Its doc comment.
        doc: Doc,
        /// Its fields.
        fields: &'static [Field],
        /// Whether there may be others.
        open: bool,
    },
    /// Such a value, null, or nothing.
    Optional(&'static Schema),
}

/// An input, an output, or a field of an object.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in the workflow.
    pub name: &'static str,
    /// Its doc comment.
    pub doc: Doc,
    /// Schema of the value.
    pub schema: &'static Schema,
    /// The Rust expression that stands for it where it is absent; shown where it is a plain value.
    pub default: Option<&'static str>,
}

/// The lines of a doc comment, as attributes; others among them are `None`.
pub type Doc = &'static [Option<&'static str>];

impl Field {
    /// Whether it has to be there.
    pub(crate) const fn is_required(&self) -> bool {
        self.default.is_none() && !matches!(self.schema, Schema::Any | Schema::Optional(_))
    }
}

/// A type with a schema of its values.
pub trait HasSchema {
    /// Schema of the type's values.
    const SCHEMA: &'static Schema;
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "tests")]
mod tests;
