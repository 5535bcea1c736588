//! Moments as bytes.

use std::{collections::HashMap, hash::Hash, sync::Arc};

use phasm_engine::{
    event::{AttemptEnd, Binding, Event, Fence, InputValue, PhaseChange, PhaseData, ScopeOpening, TaskId},
    outcome::Output,
    phase::Phase,
    usage::ResourceUsage,
    value::Value,
};

use super::{Body, FORM, Moment, kind, tag};

/// Appends the body to `buffer`. The times of all moments but the last are told from that.
pub(super) fn body(Body { moments, basis }: &Body, buffer: &mut Vec<u8>) {
    let Some(last) = moments.last() else { return };
    buffer.push(FORM);
    let mut encoding =
        Encoding { buffer, task: 0, texts: BackReferences::default(), values: BackReferences::default() };
    let mut before = 0;
    for Moment { time, events } in moments {
        let back = last.time.since(*time);
        if back != before {
            encoding.tag(tag::MOMENT);
            encoding.number(back);
            before = back;
        }
        for event in events.iter() {
            match (event, basis) {
                (Event::Submitted(first), Some(digest)) => {
                    encoding.json(&Event::Submitted(Box::new(first.apart(digest))));
                }
                _ => encoding.event(event),
            }
        }
    }
}

struct Encoding<'e> {
    buffer: &'e mut Vec<u8>,
    /// The task run that was spoken of last.
    task: u32,
    /// Texts so far, by what they say.
    texts: BackReferences<&'e str>,
    /// Arrays and objects so far, by where they are: what is shared is written once.
    values: BackReferences<*const ()>,
}

/// Values that the record holds already; each is referred to by the number of values before it.
struct BackReferences<K> {
    /// The values while there are few, as in most records: a linear search is faster than hashing.
    few: Vec<K>,
    many: HashMap<K, u64>,
}

/// Number of values that are searched linearly.
const FEW: usize = 16;

impl<K> Default for BackReferences<K> {
    fn default() -> Self {
        Self { few: Vec::new(), many: HashMap::new() }
    }
}

impl<K: Copy + Eq + Hash> BackReferences<K> {
    fn number(&self, key: K) -> Option<u64> {
        if self.many.is_empty() {
            self.few.iter().position(|known| *known == key).map(|number| number as u64)
        } else {
            self.many.get(&key).copied()
        }
    }

    /// Adds what is not known yet.
    fn add(&mut self, key: K) {
        if self.many.is_empty() && self.few.len() < FEW {
            return self.few.push(key);
        }
        self.many.extend(self.few.drain(..).zip(0..));
        self.many.insert(key, self.many.len() as u64);
    }
}

impl<'e> Encoding<'e> {
    fn tag(&mut self, tag: u8) {
        self.buffer.push(tag);
    }

    fn number(&mut self, number: u64) {
        let mut rest = number;
        while rest >= 0x80 {
            self.buffer.push((rest as u8) | 0x80);
            rest >>= 7;
        }
        self.buffer.push(rest as u8);
    }

    fn signed(&mut self, number: i64) {
        self.number((number.wrapping_shl(1) ^ (number >> 63)).cast_unsigned());
    }

    /// An even number is the length of a new text; an odd one leads to one that was there.
    fn text(&mut self, text: &'e str) {
        if let Some(known) = self.texts.number(text) {
            return self.number(known << 1 | 1);
        }
        self.number((text.len() as u64) << 1);
        self.buffer.extend_from_slice(text.as_bytes());
        if !text.is_empty() {
            self.texts.add(text);
        }
    }

    fn task(&mut self, TaskId(task): TaskId) {
        self.signed(i64::from(task) - i64::from(self.task));
        self.task = task;
    }

    fn fence(&mut self, Fence { task, attempt, dispatch }: Fence) {
        self.task(task);
        self.number(attempt.into());
        self.number(dispatch.into());
    }

    fn event(&mut self, event: &'e Event) {
        if !self.short(event) {
            self.json(event);
        }
    }

    fn json(&mut self, event: &Event) {
        self.tag(tag::JSON);
        // Events hold no maps with other keys than text and no fallible types: this cannot fail.
        let json = serde_json::to_vec(event).unwrap_or_default();
        self.number(json.len() as u64);
        self.buffer.extend_from_slice(&json);
    }

    /// Writes what has a tag of its own; false for what has none.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is rare is JSON")]
    fn short(&mut self, event: &'e Event) -> bool {
        match event {
            Event::Phase(change) => return self.phase_changed(change),
            Event::AttemptStarted(fence) => {
                self.tag(tag::STARTED);
                self.fence(*fence);
            }
            Event::AttemptEnded(ended) if ended.condition.is_none() => self.attempt_ended(ended),
            Event::Metered(fence, metered) => {
                self.tag(tag::METERED);
                self.fence(*fence);
                self.metered(*metered);
            }
            Event::ScopeOpened(opened) => self.scope_opened(opened),
            Event::TaskEnded(task, well) => {
                self.tag(if *well { tag::DONE } else { tag::FAILED });
                self.task(*task);
            }
            _ => return false,
        }
        true
    }

    fn phase_changed(&mut self, change: &'e PhaseChange) -> bool {
        let PhaseChange { task, from, to, reason, with } = change;
        let tag = match (reason, with.as_deref()) {
            (None, None) => tag::PHASE,
            (Some(_), None) => tag::REASON,
            (None, Some(PhaseData::Bound { .. })) => tag::BOUND,
            (None, Some(PhaseData::Result { .. })) => tag::RESULT,
            (None, Some(PhaseData::Partial { .. })) => tag::PARTIAL,
            (Some(_), Some(PhaseData::Result { .. })) => tag::CLOSED,
            (Some(_), Some(PhaseData::Bound { .. } | PhaseData::Partial { .. }))
            | (_, Some(PhaseData::Refused { .. })) => return false,
        };
        self.tag(tag);
        self.task(*task);
        self.buffer.push(number_of(*from) << 4 | number_of(*to));
        if let Some(reason) = reason {
            self.text(reason.as_str());
        }
        match with.as_deref() {
            Some(PhaseData::Bound { inputs, config }) => {
                self.bindings(inputs);
                self.value(config);
            }
            Some(PhaseData::Result { message, outputs } | PhaseData::Partial { message, outputs }) => {
                self.text(message);
                self.outputs(outputs);
            }
            Some(PhaseData::Refused { .. }) | None => {}
        }
        true
    }

    fn scope_opened(&mut self, ScopeOpening { task, inputs, items }: &'e ScopeOpening) {
        self.tag(if items.is_some() { tag::LOOP } else { tag::OPENED });
        self.task(*task);
        self.bindings(inputs);
        if let Some(items) = items {
            self.number(items.len() as u64);
            items.iter().for_each(|item| self.value(item));
        }
    }

    fn attempt_ended(&mut self, ended: &'e AttemptEnd) {
        // One that a condition decided is JSON: few are.
        let AttemptEnd { fence, phase, code, message, outputs, duration_ms, condition: _, metered } = ended;
        self.tag(if metered.is_nothing() { tag::ENDED } else { tag::METERED_END });
        self.fence(*fence);
        self.buffer.push(number_of(*phase));
        self.signed((*code).into());
        self.text(message);
        self.outputs(outputs);
        self.number(duration_ms.map_or(0, |millis| millis.saturating_add(1)));
        if !metered.is_nothing() {
            self.metered(*metered);
        }
    }

    fn metered(&mut self, ResourceUsage { cpu_us, pages, calls, bytes_in, bytes_out }: ResourceUsage) {
        [cpu_us, pages.into(), calls.into(), bytes_in, bytes_out].into_iter().for_each(|n| self.number(n));
    }

    fn outputs(&mut self, outputs: &'e [Output]) {
        self.number(outputs.len() as u64);
        for Output { name, value } in outputs {
            self.text(name);
            self.value(value);
        }
    }

    fn bindings(&mut self, bindings: &'e [Binding]) {
        self.number(bindings.len() as u64);
        for Binding { name, value } in bindings {
            self.text(name);
            match value {
                InputValue::Value(value) => self.value(value),
                InputValue::SecretKeyRef(secret) => {
                    self.tag(kind::SECRET);
                    self.text(&secret.name);
                    self.text(&secret.key);
                }
            }
        }
    }

    fn value(&mut self, value: &'e Value) {
        match value {
            Value::Null => self.tag(kind::NULL),
            Value::Bool(false) => self.tag(kind::FALSE),
            Value::Bool(true) => self.tag(kind::TRUE),
            Value::Number(number) => self.json_number(number),
            Value::String(text) => {
                self.tag(kind::TEXT);
                self.text(text);
            }
            Value::Array(items) => {
                self.shared(Arc::as_ptr(items).cast(), kind::ARRAY, items.len(), |writer| {
                    items.iter().for_each(|item| writer.value(item));
                });
            }
            Value::Object(members) => {
                self.shared(Arc::as_ptr(members).cast(), kind::OBJECT, members.len(), |writer| {
                    for (key, value) in members.iter() {
                        writer.text(key);
                        writer.value(value);
                    }
                });
            }
        }
    }

    fn json_number(&mut self, number: &serde_json::Number) {
        if let Some(integer) = number.as_i64() {
            self.tag(kind::INTEGER);
            self.signed(integer);
        } else if let Some(unsigned) = number.as_u64() {
            self.tag(kind::UNSIGNED);
            self.number(unsigned);
        } else {
            self.tag(kind::DOUBLE);
            let double = number.as_f64().unwrap_or_default();
            self.buffer.extend_from_slice(&double.to_le_bytes());
        }
    }

    /// An array or object is known once it is written to its end. Those without elements are not worth it.
    fn shared(&mut self, place: *const (), kind: u8, length: usize, elements: impl FnOnce(&mut Self)) {
        if let Some(known) = self.values.number(place) {
            self.tag(kind::KNOWN);
            return self.number(known);
        }
        self.tag(kind);
        self.number(length as u64);
        elements(self);
        if length > 0 {
            self.values.add(place);
        }
    }
}

/// The position in [`Phase::ALL`], which only ever grows at its end.
fn number_of(phase: Phase) -> u8 {
    phase as u8
}
