//! The limit on the data of one step: a record that is too large for a store would end the run.

use std::sync::Arc;

use super::{Decider, MAX_STEP_BYTES};
use crate::{
    event::{Bindings, InputValue, PhaseData},
    outcome::Output,
    phase::Phase,
    value::Value,
    weight::Weight,
};

/// A step that says so much leaves what else could be dispatched to the next.
const FULL_STEP_BYTES: usize = 16 << 20;

impl Decider<'_> {
    /// Makes room for what an event is about to say.
    ///
    /// # Errors
    /// How much it would be.
    pub(super) fn make_room(&mut self, add: impl FnOnce(&mut Weight)) -> Result<(), String> {
        let weight = self.weight();
        let before = weight.bytes();
        add(weight);
        let bytes = weight.bytes();
        if bytes <= MAX_STEP_BYTES {
            return Ok(());
        }
        weight.take_back(before);
        Err(format!(
            "it is too large to be recorded: {bytes} bytes together with the events recorded with it, of at most {MAX_STEP_BYTES}"
        ))
    }

    /// Whether so much is said that the rest can wait.
    pub(super) fn is_full(&mut self) -> bool {
        self.weight().bytes() >= FULL_STEP_BYTES
    }

    /// Returns the data of a change of phase, if there is room for it. Otherwise the data is replaced by a message, and an end as
    /// Succeeded or Failed becomes Error.
    pub(super) fn fitted(&mut self, to: Phase, with: Option<PhaseData>) -> (Phase, Option<PhaseData>) {
        let Some(PhaseData::Result { message, outputs }) = &with else { return (to, with) };
        match self.make_room(|weight| add_result(weight, message, outputs)) {
            Ok(()) => (to, with),
            Err(too_large) => {
                let to = if matches!(to, Phase::Succeeded | Phase::Failed) { Phase::Error } else { to };
                (to, Some(PhaseData::Result { message: too_large.into(), outputs: Arc::default() }))
            }
        }
    }

    /// A text of an event that is written as JSON, as there is room for it.
    pub(super) fn fitted_text(&mut self, text: Arc<str>) -> Arc<str> {
        match self.make_room(|weight| weight.add_json_text(&text)) {
            Ok(()) => text,
            Err(too_large) => too_large.into(),
        }
    }

    /// Makes room for values of an event that is written as JSON.
    ///
    /// # Errors
    /// How much it would be.
    pub(super) fn make_json_room<'v>(
        &mut self,
        values: impl IntoIterator<Item = (&'v Arc<str>, &'v Value)>,
    ) -> Result<(), String> {
        self.make_room(|weight| {
            for (name, value) in values {
                weight.add_json_text(name);
                weight.add_json(value, MAX_STEP_BYTES);
            }
        })
    }
}

pub(super) fn add_result(weight: &mut Weight, message: &Arc<str>, outputs: &[Output]) {
    weight.add_text(message);
    for Output { name, value } in outputs {
        weight.add_text(name);
        weight.add(value);
    }
}

pub(super) fn add_inputs(weight: &mut Weight, inputs: &Bindings) {
    for (name, value) in given(inputs) {
        weight.add_text(name);
        weight.add(value);
    }
}

/// Values among inputs, by name.
pub(super) fn given(inputs: &Bindings) -> impl Iterator<Item = (&Arc<str>, &Value)> {
    inputs.iter().filter_map(|binding| match &binding.value {
        InputValue::Value(value) => Some((&binding.name, value)),
        InputValue::SecretKeyRef(_) => None,
    })
}
