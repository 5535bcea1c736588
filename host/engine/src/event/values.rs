//! The values that events carry.

use std::sync::Arc;

use super::{Bindings, Event, InputValue, Outputs, PhaseData, Rerun};
use crate::value::{Map, Value};

impl Event {
    /// Calls `each` with every value that comes from users, executors or expressions, always in the same order: inputs, outputs,
    /// items, settings.
    pub fn for_each_value(&mut self, each: &mut impl FnMut(&mut Value)) {
        match self {
            Self::Submitted(submitted) => {
                members(&mut submitted.parameters, each);
                if let Some(rerun) = &mut submitted.rerun {
                    earlier(Arc::make_mut(rerun), each);
                }
            }
            Self::ScopeOpened(opened) => {
                inputs(&mut opened.inputs, each);
                if let Some(items) = &mut opened.items {
                    Arc::make_mut(items).iter_mut().for_each(each);
                }
            }
            Self::Phase(change) => match change.with.as_deref_mut() {
                Some(PhaseData::Bound { inputs: bound, config }) => {
                    inputs(bound, each);
                    each(config);
                }
                Some(
                    PhaseData::Partial { outputs: given, .. } | PhaseData::Result { outputs: given, .. },
                ) => {
                    outputs(given, each);
                }
                Some(PhaseData::Refused { .. }) | None => {}
            },
            Self::AttemptEnded(ended) => outputs(&mut ended.outputs, each),
            Self::Resumed(resumption) => members(&mut resumption.payload, each),
            Self::PolicyEvaluated(evaluated) => {
                evaluated.iter.values_mut().for_each(&mut *each);
                evaluated.ctx.values_mut().for_each(each);
            }
            Self::HookFired(fired) => {
                inputs(&mut fired.inputs, each);
                each(&mut fired.config);
            }
            Self::RunPhase(_)
            | Self::CancelRequested
            | Self::CancelRequestedBy(_)
            | Self::TaskCancelRequested(..)
            | Self::Held(_)
            | Self::Repeated(_)
            | Self::Reused(_)
            | Self::AttemptStarted(_)
            | Self::Metered(..)
            | Self::TimedOut(..)
            | Self::RetryScheduled(_)
            | Self::TaskEnded(..)
            | Self::HookFailed(_)
            | Self::Warning(_)
            | Self::Broken(_) => {}
        }
    }
}

fn inputs(bindings: &mut Bindings, each: &mut impl FnMut(&mut Value)) {
    for binding in Arc::make_mut(bindings) {
        if let InputValue::Value(value) = &mut binding.value {
            each(value);
        }
    }
}

fn outputs(outputs: &mut Outputs, each: &mut impl FnMut(&mut Value)) {
    Arc::make_mut(outputs).iter_mut().for_each(|output| each(&mut output.value));
}

fn members(map: &mut Arc<Map>, each: &mut impl FnMut(&mut Value)) {
    Arc::make_mut(map).values_mut().for_each(each);
}

fn earlier(rerun: &mut Rerun, each: &mut impl FnMut(&mut Value)) {
    for result in rerun.results.values_mut() {
        inputs(&mut result.inputs, each);
        each(&mut result.config);
        outputs(&mut result.outputs, each);
    }
    for items in rerun.items.values_mut() {
        Arc::make_mut(items).iter_mut().for_each(&mut *each);
    }
}
