//! A record's body: what happened at one moment or at a few, in the form in which it is kept.
//!
//! ```text
//!  body   = form, entries          the form is `2`, or the whole is JSON, as earlier Phasms wrote it
//!  entry  = tag, fields            what every task writes has a tag of its own, the rest is JSON
//!  moment = tag, milliseconds      what follows happened so long before the record's time
//! ```
//!
//! Whole numbers are LEB128, with signs in zigzag; a task run is the difference to the one before. A text, array or object
//! that the record has had already is the number it had.

mod read;
mod write;

use std::{num::NonZeroU32, sync::Arc};

use phasm_engine::{
    event::{Event, SubmissionRecord},
    time::Timestamp,
};

pub(super) use self::read::json;
use super::StepRecord;
use crate::store::{Document, Encode, Record};

/// The first byte of this form. JSON begins with a bracket.
const FORM: u8 = 2;

/// Tags of entries.
mod tag {
    /// An event as JSON.
    pub(super) const JSON: u8 = 0;
    /// Another moment.
    pub(super) const MOMENT: u8 = 1;
    /// A phase changed, and nothing came with it.
    pub(super) const PHASE: u8 = 2;
    /// A phase changed for a reason.
    pub(super) const REASON: u8 = 3;
    /// A task's inputs were bound.
    pub(super) const BOUND: u8 = 4;
    /// A phase changed with a container's outputs.
    pub(super) const RESULT: u8 = 5;
    /// An executor has started.
    pub(super) const STARTED: u8 = 6;
    /// An attempt is over.
    pub(super) const ENDED: u8 = 7;
    /// A task is over, not well.
    pub(super) const FAILED: u8 = 8;
    /// A task is over, well.
    pub(super) const DONE: u8 = 9;
    /// A phase changed with partial outputs.
    pub(super) const PARTIAL: u8 = 10;
    /// A container opened.
    pub(super) const OPENED: u8 = 11;
    /// A loop opened, with its items.
    pub(super) const LOOP: u8 = 12;
    /// A phase changed for a reason, with a container's outputs.
    pub(super) const CLOSED: u8 = 13;
    /// An attempt is over, and what it used.
    pub(super) const METERED_END: u8 = 14;
    /// Resources that an attempt used.
    pub(super) const METERED: u8 = 15;
}

/// Kinds of values.
mod kind {
    pub(super) const NULL: u8 = 0;
    pub(super) const FALSE: u8 = 1;
    pub(super) const TRUE: u8 = 2;
    pub(super) const INTEGER: u8 = 3;
    pub(super) const UNSIGNED: u8 = 4;
    pub(super) const DOUBLE: u8 = 5;
    pub(super) const TEXT: u8 = 6;
    pub(super) const KNOWN: u8 = 7;
    pub(super) const ARRAY: u8 = 8;
    pub(super) const OBJECT: u8 = 9;
    /// Instead of an input's value: where it is to be found.
    pub(super) const SECRET: u8 = 10;
}

/// Events of one moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Moment {
    pub(crate) time: Timestamp,
    pub(crate) events: Arc<Vec<Event>>,
}

/// The moments of a record, in order; the record's time is that of the last.
#[derive(Debug, PartialEq)]
pub(crate) struct Body {
    pub(crate) moments: Vec<Moment>,
    /// The digest of the basis, in a run's first record; the basis itself is stored apart.
    pub(crate) basis: Option<Arc<str>>,
}

impl Encode for Body {
    fn encode(&self, buffer: &mut Vec<u8>) {
        write::body(self, buffer);
    }
}

impl Body {
    /// How many events there are; none of none.
    pub(crate) fn count(&self) -> Option<NonZeroU32> {
        let events = self.moments.iter().map(|moment| moment.events.len()).sum::<usize>();
        u32::try_from(events).ok().and_then(NonZeroU32::new)
    }

    /// The submission, in a run's first record.
    pub(super) fn submitted(&mut self) -> Option<&mut SubmissionRecord> {
        let first = Arc::get_mut(&mut self.moments.first_mut()?.events)?.first_mut()?;
        if let Event::Submitted(submitted) = first { Some(submitted) } else { None }
    }

    /// Each moment as a record by itself.
    pub(crate) fn told(
        &self,
        first_seq: u64,
        document: Option<&Arc<Document>>,
    ) -> impl Iterator<Item = StepRecord> {
        let counted = self.moments.iter().filter_map(|moment| {
            let events = u32::try_from(moment.events.len()).ok().and_then(NonZeroU32::new)?;
            Some((moment, events))
        });
        let mut next = first_seq;
        counted.map(move |(Moment { time, events: body }, events)| {
            let (first_seq, body) = (next, Arc::clone(body));
            let document = document.filter(|_| first_seq == 0).cloned();
            let (notices, logs, remark) = Default::default();
            let told = Record { first_seq, events, time: *time, body, document, notices, logs, remark };
            next = told.next_seq();
            told
        })
    }
}

/// Decodes what [`Body`] encodes; `time` is the record's.
pub(super) fn decode(bytes: &[u8], time: Timestamp) -> Result<Body, serde_json::Error> {
    let moments = match bytes.split_first() {
        Some((&FORM, entries)) => read::moments(entries, time)?,
        _ => vec![Moment { time, events: Arc::new(json(bytes)?) }],
    };
    Ok(Body { moments, basis: None })
}

#[cfg(test)]
mod tests;
