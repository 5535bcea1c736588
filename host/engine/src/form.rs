//! How objects are written: tables of fields that a reader goes by and that a JSON Schema is made of.
//!
//! A [`Table`] names the [`Field`]s of an object and the [`Rule`]s about them; a [`Form`] says how one value is written.
//! [`Cursor::object`] reads an object by its table and puts everything that is wrong with it into a [`Report`], and
//! [`schema`] makes the JSON Schema of the same table, so that the two agree. The workflow document is one client, the
//! host's configuration another.

mod cursor;
mod duplicates;
mod duration;
mod number;
mod object;
mod plain;
mod report;
mod rule;
mod schema;
mod setting;
mod table;
mod words;

pub use cursor::{Cursor, Name, Site, WithSite};
pub use duplicates::check_duplicates;
pub use duration::{PAUSE, SECONDS, TIMEOUT, timeout};
pub use number::{FRACTION, POSITIVE, SIZE, SIZE_OR_0, as_whole, count, parse_size, whole};
pub use object::Object;
pub use plain::{BOOLEAN, IGNORED, SOME_TEXT, TEXT, TEXTS, Words, word};
pub(crate) use report::Spellings;
pub use report::{MAX_PROBLEMS, Report, more};
pub use rule::{Refusal, Rule, When};
pub use schema::{Defs, schema};
pub(crate) use schema::{Variant, schema_with_variant};
pub(crate) use setting::{KnownSetting, SettingExpressions, WrittenSetting};
pub use table::{AnyField, Field, Form, Rest, Table};
pub use words::{joined, listed, listed_if_few};
