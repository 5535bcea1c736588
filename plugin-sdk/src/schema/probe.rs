//! Finds the schema of a type, where it has one. For macros, which import all of it: then both names are used, or neither.

use std::marker::PhantomData;

use super::{HasSchema, Schema};

/// Its own constant goes before the trait's of the same name.
#[derive(Debug)]
pub struct __Probe<T>(PhantomData<T>);

impl<T: HasSchema> __Probe<T> {
    /// What the type tells.
    pub const SCHEMA: &'static Schema = T::SCHEMA;
}

/// What is to be said of a type that tells nothing.
pub trait __Unknown {
    /// It may be anything.
    const SCHEMA: &'static Schema = &Schema::Any;
}

impl<T> __Unknown for __Probe<T> {}
