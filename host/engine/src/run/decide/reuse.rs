//! Reuse: what had succeeded in the run that this is a rerun of is not executed again.

use std::collections::BTreeMap;

use super::{Decider, bind::call};
use crate::{
    event::{Binding, Event, InputValue, Reason},
    expr::Doubts,
    phase::{Phase, TaskKind},
    run::state::TaskIndex,
};

impl Decider<'_> {
    /// Ends a task run with the result it had in the earlier run, if it would come to the same again; true if so. Its hooks
    /// do not fire, as those of nothing that was not dispatched do (R-F4).
    pub(super) fn reuse(&mut self, id: TaskIndex) -> bool {
        if !self.is_reusable(id) {
            return false;
        }
        self.emit(Event::Reused(id.into()));
        if self.kind(&self[id]) == TaskKind::Leaf {
            // R-P2 knows no shorter way; the reason tells it from a dispatch.
            self.set_phase(id, Phase::Ready, Some(Reason::Reused), None);
        }
        self.set_phase(id, Phase::Succeeded, Some(Reason::Reused), None);
        true
    }

    /// Whether it had succeeded, is bound to the same, reads nothing else that may be different, and follows nothing that was
    /// executed again (R-F2).
    fn is_reusable(&self, id: TaskIndex) -> bool {
        let task = &self[id];
        let Some((past, result)) = self.past_result(task) else { return false };
        let node = self.node(task);
        past.determinism.holds(self.plan(), node)
            && self.stands_as_before(task, &past.rerun)
            && call(self, task, node)
                .bind(&mut Doubts::default())
                .is_ok_and(|bound| are_same(&bound.inputs, &result.inputs) && bound.config == result.config)
    }
}

/// Whether the same names are bound to the same values. The order of short forms differs between a file and the document that is
/// stored of it, and so between a run and its rerun.
fn are_same(one: &[Binding], other: &[Binding]) -> bool {
    one.len() == other.len() && by_name(one) == by_name(other)
}

fn by_name(inputs: &[Binding]) -> BTreeMap<&str, &InputValue> {
    inputs.iter().map(|input| (&*input.name, &input.value)).collect()
}
