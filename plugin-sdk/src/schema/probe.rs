//! Finds the schema of a type, where it has one. For macros, which import all of it: then both names are used, or neither.

use std::marker::PhantomData;

use super::{HasSchema, Schema};

/// Its own constant goes before the trait's of the same name.
#[derive(Debug)]
pub struct __Probe<T>(PhantomData<T>);

impl<T: HasSchema> __Probe<T> {
    /// Schema of the type.
    pub const SCHEMA: &'static Schema = T::SCHEMA;
}

/// Schema of a type that does not implement [`HasSchema`].
pub trait __Unknown {
    /// Accepts any value.
    const SCHEMA: &'static Schema = &Schema::Any;
}

impl<T> __Unknown for __Probe<T> {}
