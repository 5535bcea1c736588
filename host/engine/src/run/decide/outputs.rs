//! Outputs after an attempt, and those of containers.

use std::sync::Arc;

use super::{
    Decider,
    bind::{ValueSource, check_value, declared_sources, evaluate, own_level},
    env::{AttemptResult, TaskEnv},
};
use crate::{
    event::Outputs,
    expr::Doubts,
    outcome::Output,
    phase::Phase,
    plan::{Node, Parameter, ValueFrom},
    run::state::TaskIndex,
    value::Value,
};

/// Outputs that a warning names.
const MAX_NAMES: usize = 10;

/// Findings of the computation of outputs.
#[derive(Default)]
struct Findings {
    /// Values that could not be computed.
    faults: Vec<String>,
    /// Values that may not be meant.
    doubts: Doubts,
}

impl Decider<'_> {
    /// Applies the declared outputs of a task: a whitelist, with values to fill in; none declared passes all.
    pub(super) fn whitelisted(&mut self, id: TaskIndex, judged: &AttemptResult) -> Outputs {
        let node = self.node(&self[id]);
        if node.outputs.is_empty() {
            return Arc::clone(&judged.outputs);
        }
        let mut findings = Findings::default();
        let mut outputs = Vec::with_capacity(node.outputs.len());
        for parameter in node.outputs.iter() {
            let returned = judged.outputs.iter().rfind(|output| output.name == parameter.name);
            let value = match returned {
                Some(output) => Some(output.value.clone()),
                None => self.filled_in(id, node, parameter, judged, &mut findings),
            };
            outputs.extend(value.map(|value| Output { name: parameter.name.clone(), value }));
        }
        if judged.phase == Phase::Succeeded {
            self.warn_absent(id, &node.outputs, &outputs, &judged.outputs);
        }
        self.warn_outputs(id, &node.outputs, &outputs, findings);
        Arc::new(outputs)
    }

    /// Warns of declared outputs that a good attempt neither returned nor has a value for (R-W36).
    fn warn_absent(
        &mut self,
        id: TaskIndex,
        declared: &[Parameter],
        outputs: &[Output],
        returned: &[Output],
    ) {
        let has = |name: &str| outputs.iter().any(|output| &*output.name == name);
        let absent: Vec<&str> = declared.iter().map(|one| &*one.name).filter(|name| !has(name)).collect();
        if absent.is_empty() {
            return;
        }
        let names = |all: &mut dyn Iterator<Item = &str>| all.take(MAX_NAMES).collect::<Vec<_>>().join(", ");
        let returned = match names(&mut returned.iter().map(|output| &*output.name)) {
            none if none.is_empty() => "nothing".to_owned(),
            some => some,
        };
        let absent = names(&mut absent.into_iter());
        self.warn(
            Some(id),
            "output-absent",
            format!("declared and not returned: {absent}; returned: {returned}"),
        );
    }

    /// Resolves a container's declared outputs, whatever its phase. One that declares none passes what `inherited`
    /// says: a dag nothing, a loop all aggregated, a pipeline its last ended task's.
    pub(super) fn container_outputs(&mut self, id: TaskIndex, judged: &AttemptResult) -> Outputs {
        let node = self.node(&self[id]);
        if node.outputs.is_empty() {
            return self.inherited(id, judged);
        }
        let mut findings = Findings::default();
        let mut outputs = Vec::with_capacity(node.outputs.len());
        for parameter in node.outputs.iter() {
            let filled = self.filled_in(id, node, parameter, judged, &mut findings);
            let aggregated = || {
                let all = judged.aggregated.as_ref()?;
                all.iter().find(|output| output.name == parameter.name).map(|output| output.value.clone())
            };
            let value = filled.or_else(aggregated).unwrap_or_default();
            outputs.push(Output { name: parameter.name.clone(), value });
        }
        self.warn_outputs(id, &node.outputs, &outputs, findings);
        Arc::new(outputs)
    }

    fn inherited(&self, id: TaskIndex, judged: &AttemptResult) -> Outputs {
        if let Some(aggregated) = &judged.aggregated {
            return Arc::clone(aggregated);
        }
        let last = self.scope(&self[id]).and_then(|scope| scope.pipeline()?.last);
        last.map(|last| self[last].outputs.clone()).unwrap_or_default()
    }

    /// `value`, `valueFrom` or `default` of a declared output; `None` when it has none of them.
    fn filled_in(
        &self,
        id: TaskIndex,
        node: &Node,
        parameter: &Parameter,
        judged: &AttemptResult,
        findings: &mut Findings,
    ) -> Option<Value> {
        let task = &self[id];
        let level = own_level(node);
        let sources = declared_sources(parameter, level);
        if sources.is_empty() {
            return None;
        }
        let view = TaskEnv { result: Some(judged), ..TaskEnv::new(self, task, level) };
        for source in sources {
            let value = match source {
                ValueSource::Given(_) | ValueSource::From(ValueFrom::Secret(_), _) => continue,
                ValueSource::From(ValueFrom::Expression(expr), _) => {
                    expr.eval(&view, &mut findings.doubts).map_err(|error| error.to_string())
                }
                ValueSource::Written(written, _) => evaluate(written, &view, &mut findings.doubts),
            };
            findings.doubts.place(|| format!("output {}", parameter.name));
            match value {
                Ok(Value::Null) => {}
                Ok(value) => return Some(value),
                Err(error) => {
                    findings.faults.push(format!("output {} cannot be computed: {error}", parameter.name));
                }
            }
        }
        Some(Value::Null)
    }

    /// Outputs that could not be computed or do not fit their declared type are kept, with a warning (R-B3, R-B8).
    fn warn_outputs(
        &mut self,
        id: TaskIndex,
        declared: &[Parameter],
        outputs: &[Output],
        findings: Findings,
    ) {
        self.warn_doubts(id, findings.doubts);
        for fault in findings.faults {
            self.warn(Some(id), "output", fault);
        }
        for output in outputs {
            let parameter = declared.iter().find(|parameter| parameter.name == output.name);
            if let Some(Err(error)) = parameter.map(|p| check_value(p, &output.value)) {
                self.warn(Some(id), "output-type", format!("output {}: {error}; kept", output.name));
            }
        }
    }
}
