//! Outlines: runs for those who look at them, without large values.
//!
//! ```text
//!  store ── part of the journal ──▶ record ── large values ──▶ placeholders, and where each value is recorded
//!                                     └────── the rest ──────▶ the run
//! ```
//!
//! Applying an event moves values and never looks into them, so a run follows from a journal with placeholders as well.

use std::{collections::HashMap, mem, sync::Arc};

use phasm_engine::{
    event::{Event, TaskId},
    json_size::json_size,
    run::Run,
    time::Timestamp,
    value::Value,
};

use super::{RecoverError, StepRecord, apply, plan_cache::PlanCache, told};
use crate::store::{ReadStore, Record};
use phasm_sandbox::fair_queue::{FairQueue, Holder, Place};

/// Bytes of records that are read at a time.
pub(crate) const PART_BYTES: usize = 8 << 20;
/// Largest value that is shown together with others, in bytes of its JSON text.
pub const MAX_SHOWN_BYTES: usize = 64 << 10;
/// Largest JSON text of a value that is shown alone.
pub const MAX_VALUE_BYTES: usize = 256 << 20;
/// Once an outline holds values of so many bytes,
const FULL_BYTES: usize = 32 << 20;
/// values beyond this size are left out of it.
const MAX_SHOWN_BYTES_IN_FULL: usize = 1 << 10;

/// Where outlines are read.
pub(crate) struct JournalSource<'s> {
    pub(crate) store: &'s dyn ReadStore,
    pub(crate) plans: &'s PlanCache,
    /// Parts that may be in memory at once.
    pub(crate) turns: &'s FairQueue,
    /// The client that the parts count for, if one has asked for them.
    pub(crate) holder: Option<&'s Holder>,
}

impl JournalSource<'_> {
    async fn turn(&self) -> Option<Place> {
        // None is refused: those who wait are bounded where requests are.
        match self.holder {
            Some(holder) => self.turns.enter(holder).await.ok(),
            None => self.turns.enter(&Holder::of_no_client()).await.ok(),
        }
    }
}

/// A value of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ValueAddress {
    /// The first event of its record.
    first_seq: u64,
    /// Its number among the values of the record.
    number: usize,
}

#[derive(Debug)]
struct LargeValue {
    /// Keeps the address from being used again.
    _placeholder: Value,
    bytes: u64,
    address: ValueAddress,
}

/// Large values that an outline has left out, by their placeholders.
#[derive(Debug, Default)]
pub struct LargeValues {
    by_placeholder: HashMap<usize, LargeValue>,
}

/// An array, object or text without content, which is at no other's address; none for a value that is small by its type.
fn placeholder(value: &Value) -> Option<Value> {
    match value {
        Value::String(_) => Some(Value::String(Arc::from(""))),
        Value::Array(_) => Some(Vec::new().into()),
        Value::Object(_) => Some(phasm_engine::value::Map::new().into()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn place_in_memory(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(Arc::as_ptr(text).addr()),
        Value::Array(items) => Some(Arc::as_ptr(items).addr()),
        Value::Object(members) => Some(Arc::as_ptr(members).addr()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

impl LargeValues {
    fn find(&self, value: &Value) -> Option<&LargeValue> {
        self.by_placeholder.get(&place_in_memory(value)?)
    }

    /// Returns the size of the JSON text of a value, or [`MAX_VALUE_BYTES`] if that is larger; none unless this is a placeholder.
    #[must_use]
    pub fn size(&self, value: &Value) -> Option<u64> {
        Some(self.find(value)?.bytes)
    }

    /// Puts a placeholder in place of a value.
    fn take(&mut self, value: &mut Value, address: ValueAddress) {
        let Some(placeholder) = placeholder(value) else { return };
        let Some(place) = place_in_memory(&placeholder) else { return };
        let bytes = json_size(value, MAX_VALUE_BYTES).unwrap_or(MAX_VALUE_BYTES) as u64;
        *value = placeholder.clone();
        let large = LargeValue { _placeholder: placeholder, bytes, address };
        self.by_placeholder.insert(place, large);
    }
}

/// The task run that an event gives values to.
fn task_of(event: &Event) -> Option<TaskId> {
    if let Event::Phase(change) = event {
        Some(change.task)
    } else if let Event::AttemptEnded(ended) = event {
        Some(ended.fence.task)
    } else if let Event::ScopeOpened(opened) = event {
        Some(opened.task)
    } else if let Event::HookFired(fired) = event {
        Some(fired.run)
    } else if let Event::Resumed(resumption) = event {
        Some(resumption.task)
    } else {
        None
    }
}

/// A run without large values.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    run: Option<Run>,
    large: LargeValues,
    /// The task run whose values are kept whatever their size.
    whole: Option<TaskId>,
    /// Bytes of the values that it holds.
    bytes: usize,
}

impl Outline {
    /// An outline that has the values of one task run.
    pub(crate) fn with_task(whole: Option<TaskId>) -> Self {
        Self { whole, ..Self::default() }
    }

    /// The run as of the last record that was read, and its large values.
    pub(crate) fn run(&self) -> Option<(&Run, &LargeValues)> {
        self.run.as_ref().map(|run| (run, &self.large))
    }

    pub(crate) fn into_run(self) -> Option<(Run, LargeValues)> {
        self.run.map(|run| (run, self.large))
    }

    /// Estimates the memory that it needs.
    pub(crate) fn bytes(&self) -> usize {
        const TASK_BYTES: usize = 2 << 10;
        let tasks = self.run.as_ref().map_or(0, |run| run.tasks().len());
        self.bytes + tasks * TASK_BYTES + self.large.by_placeholder.len() * size_of::<LargeValue>()
    }

    /// Reads what was recorded since it was read last. At most one part of the journal is in memory with it. `each` sees the events
    /// of each step, without large values.
    ///
    /// # Errors
    /// [`RecoverError`] when the store cannot be read, or its records do not follow.
    pub(crate) async fn read_on(
        &mut self,
        source: &JournalSource<'_>,
        run_id: &str,
        mut each: impl FnMut(Timestamp, &[Event]),
    ) -> Result<(), RecoverError> {
        loop {
            let _turn = source.turn().await;
            let since = self.run.as_ref().map_or(0, |run| run.seq());
            let part = source.store.load_part(run_id, since, PART_BYTES).await?;
            for record in part.records {
                for step in self.steps(source.plans, run_id, &record)? {
                    apply(source.plans, &mut self.run, run_id, &step)?;
                    each(step.time, &step.body);
                }
            }
            if part.is_last {
                return Ok(());
            }
        }
    }

    /// The steps of a record without their large values.
    fn steps(
        &mut self,
        plans: &PlanCache,
        run_id: &str,
        record: &Record<Vec<u8>>,
    ) -> Result<Vec<StepRecord>, RecoverError> {
        let mut address = ValueAddress { first_seq: record.first_seq, number: 0 };
        let mut steps = told(plans, run_id, record)?;
        for event in steps.iter_mut().flat_map(|step| Arc::make_mut(&mut step.body)) {
            let is_whole = self.whole.is_some() && task_of(event) == self.whole;
            event.for_each_value(&mut |value| {
                if !is_whole {
                    self.keep(value, address);
                }
                address.number += 1;
            });
        }
        Ok(steps)
    }

    fn keep(&mut self, value: &mut Value, address: ValueAddress) {
        let is_full = self.bytes > FULL_BYTES;
        let most = if is_full { MAX_SHOWN_BYTES_IN_FULL } else { MAX_SHOWN_BYTES };
        match json_size(value, most) {
            Some(bytes) => self.bytes += bytes,
            None => self.large.take(value, address),
        }
    }

    /// Returns the value that a placeholder stands for, or the value itself.
    ///
    /// # Errors
    /// [`RecoverError`] when the store cannot be read.
    pub(crate) async fn value(
        &self,
        source: &JournalSource<'_>,
        run_id: &str,
        shown: Value,
    ) -> Result<Value, RecoverError> {
        let Some(&LargeValue { address, .. }) = self.large.find(&shown) else { return Ok(shown) };
        let _turn = source.turn().await;
        let part = source.store.load_part(run_id, address.first_seq, 0).await?;
        let (mut found, mut number) = (None, 0);
        for record in part.records.iter().filter(|record| record.first_seq == address.first_seq) {
            for mut step in told(source.plans, run_id, record)? {
                for event in Arc::make_mut(&mut step.body) {
                    event.for_each_value(&mut |value| {
                        if number == address.number {
                            found = Some(mem::take(value));
                        }
                        number += 1;
                    });
                }
            }
        }
        let lost = || <serde_json::Error as serde::de::Error>::custom("a value of it is missing");
        found.ok_or_else(|| super::unreadable(run_id, address.first_seq, lost()))
    }
}
