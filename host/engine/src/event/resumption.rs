//! Responses to suspended tasks, as a journal keeps them.

use std::{fmt, sync::Arc};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, SeqAccess, Visitor},
    ser::SerializeTuple as _,
};

use crate::value::Map;

use super::{Requester, TaskId};

/// A response to a suspended task. A journal has it as `[task, payload]`, or `[task, payload, by]` where the caller is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Resumption {
    /// The task run.
    pub task: TaskId,
    /// The response.
    pub payload: Arc<Map>,
    /// The caller that gave it, if it is known.
    pub by: Option<Requester>,
}

impl Serialize for Resumption {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(2 + usize::from(self.by.is_some()))?;
        tuple.serialize_element(&self.task)?;
        tuple.serialize_element(&self.payload)?;
        if let Some(by) = &self.by {
            tuple.serialize_element(by)?;
        }
        tuple.end()
    }
}

impl<'de> Deserialize<'de> for Resumption {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ResumptionVisitor)
    }
}

struct ResumptionVisitor;

impl<'de> Visitor<'de> for ResumptionVisitor {
    type Value = Resumption;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a task run, a response, and the caller that gave it, if it is known")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Resumption, A::Error> {
        let missing = |index| A::Error::invalid_length(index, &self);
        let task = elements.next_element()?.ok_or_else(|| missing(0))?;
        let payload = elements.next_element()?.ok_or_else(|| missing(1))?;
        let by = elements.next_element()?;
        Ok(Resumption { task, payload, by })
    }
}
