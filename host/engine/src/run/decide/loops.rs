//! Loops: what they run over, whether they go on, and what their iterations amount to.

use std::{collections::BTreeMap, sync::Arc};

use super::{Decider, bind::evaluate, env::TaskEnv};
use crate::{
    event::{Bindings, Event, Outputs},
    expr::{Doubts, Expr},
    outcome::Output,
    phase::Phase,
    plan::{AggregateStrategy, Level, Loop, LoopOver, Node, Parameter, Plan, TemplateKind, Work},
    run::state::{ScopeIndex, TaskIndex, TaskRun},
    value::Value,
};

/// Elements that the lists of one loop may have in all: guests choose the names of undeclared outputs.
const MAX_LIST_SLOTS: usize = 1 << 22;

/// The iterations of a loop.
#[derive(Default)]
pub(super) struct Items {
    /// None where it repeats on a condition, and of other containers.
    pub(super) items: Option<Arc<Vec<Value>>>,
    /// Iterations that `maxIterations` cut off.
    pub(super) cut: usize,
    /// Values that may not be meant.
    pub(super) doubts: Doubts,
}

/// Iterations with nothing to dispatch that do-while loops make in one step: time does not pass between them.
const MAX_IDLE_ITERATIONS: u32 = 10_000;

impl Decider<'_> {
    /// Evaluates what a loop runs over; nothing for other containers.
    ///
    /// # Errors
    /// A message that says why it cannot be run over.
    pub(super) fn items(&self, id: TaskIndex, inputs: &Bindings) -> Result<Items, String> {
        let task = &self[id];
        let Some(each) = self.plan().loop_of(self.node(task)) else { return Ok(Items::default()) };
        let view = TaskEnv { bound: Some(inputs), ..TaskEnv::new(self, task, Level::Template) };
        let mut doubts = Doubts::default();
        let mut items = match &each.over {
            LoopOver::Repeat(_) => return Ok(Items::default()),
            LoopOver::Items(written) => {
                let item = |(index, item)| {
                    evaluate(item, &view, &mut doubts).map_err(|error| format!("items[{index}]: {error}"))
                };
                written.iter().enumerate().map(item).collect::<Result<Vec<_>, _>>()?
            }
            LoopOver::ItemsFrom(expr) => {
                items_from(expr, &view, &mut doubts).map_err(|error| format!("itemsFrom: {error}"))?
            }
        };
        let most = each.max_iterations.map_or(usize::MAX, |most| most as usize);
        doubts.place(|| "items".to_owned());
        let cut = items.len().saturating_sub(most);
        items.truncate(most);
        Ok(Items { items: Some(Arc::new(items)), cut, doubts })
    }

    /// All iterations of a loop have ended well enough: whether `repeatCondition` asks for another; true if so.
    ///
    /// # Errors
    /// Why the condition cannot be answered.
    pub(super) fn repeat(&mut self, scope: ScopeIndex) -> Result<bool, String> {
        let id = self[scope].owner;
        let Some(Loop { over: LoopOver::Repeat(condition), max_iterations, .. }) =
            self.plan().loop_of(self.node(&self[id]))
        else {
            return Ok(false);
        };
        let (count, Some(last)) = (self[scope].children.len(), self[scope].children.last().copied()) else {
            return Ok(false);
        };
        let last = &self[last];
        let has_dispatched = last.dispatched_at.is_some();
        let mut doubts = Doubts::default();
        let again = condition.test(&TaskEnv::new(self, last, Level::Node), &mut doubts);
        self.warn_doubts(id, doubts);
        if !again.map_err(|error| format!("repeatCondition: {error}"))? {
            return Ok(false);
        }
        if max_iterations.is_some_and(|most| count >= most as usize) {
            let message = format!("the loop ends after {count} iterations; repeatCondition still holds");
            self.warn(Some(id), "max-iterations", message);
            return Ok(false);
        }
        if !has_dispatched && self.count_idle() > MAX_IDLE_ITERATIONS {
            return Err(format!(
                "repeatCondition: {MAX_IDLE_ITERATIONS} iterations in a row had nothing to do"
            ));
        }
        self.room_for(1)?;
        self.emit(Event::Repeated(id.into()));
        Ok(true)
    }

    /// The outputs of a loop's iterations, by its strategy; `None` for other containers.
    pub(super) fn aggregated(&mut self, id: TaskIndex) -> Option<Outputs> {
        let task = &self[id];
        let each = self.plan().loop_of(self.node(task))?;
        let well = || self.children(task).filter(|task| task.phase == Phase::Succeeded);
        let wanted =
            |name: &Arc<str>| each.aggregate.parameters.as_ref().is_none_or(|names| names.contains(name));
        let one = |task: Option<&TaskRun>| {
            let outputs = task.map(|task| task.outputs.iter()).into_iter().flatten();
            outputs.filter(|output| wanted(&output.name)).cloned().collect()
        };
        Some(Arc::new(match each.aggregate.strategy {
            AggregateStrategy::First => one(well().next()),
            AggregateStrategy::Last => one(well().next_back()),
            AggregateStrategy::List => {
                let (lists, too_many) = lists(self.plan(), self.node(task), each, self.children(task));
                if too_many {
                    let message = format!("outputs beyond {MAX_LIST_SLOTS} list elements are left out");
                    self.warn(Some(id), "aggregate", message);
                }
                lists
            }
        }))
    }
}

/// One list per name, aligned with the iterations, null for what did not succeed; true if some name was left out.
fn lists<'a>(
    plan: &Plan,
    node: &Node,
    each: &Loop,
    iterations: impl ExactSizeIterator<Item = &'a TaskRun>,
) -> (Vec<Output>, bool) {
    let length = iterations.len();
    let mut names: Vec<Arc<str>> = match &each.aggregate.parameters {
        Some(names) => names.clone(),
        None => declared_names(plan, node, each),
    };
    let mut lists: BTreeMap<Arc<str>, Vec<Value>> =
        names.iter().map(|name| (name.clone(), vec![Value::Null; length])).collect();
    let all = each.aggregate.parameters.is_none();
    let most_names = MAX_LIST_SLOTS / length.max(1);
    let mut too_many = false;
    for (index, iteration) in iterations.enumerate().filter(|(_, task)| task.phase == Phase::Succeeded) {
        for output in iteration.outputs.iter() {
            let is_new = all && !lists.contains_key(&output.name);
            too_many |= is_new && names.len() >= most_names;
            if is_new && names.len() < most_names {
                names.push(output.name.clone());
                lists.insert(output.name.clone(), vec![Value::Null; length]);
            }
            if let Some(slot) = lists.get_mut(&output.name).and_then(|list| list.get_mut(index)) {
                *slot = output.value.clone();
            }
        }
    }
    let list = |name: Arc<str>| Some(Output { value: lists.remove(&name)?.into(), name });
    (names.into_iter().filter_map(list).collect(), too_many)
}

/// The names that a loop has whatever its iterations return: its own declared ones without a source, and the body's.
fn declared_names(plan: &Plan, node: &Node, each: &Loop) -> Vec<Arc<str>> {
    let aggregated = |p: &&Parameter| p.value.is_none() && p.value_from.is_none();
    let own = node.outputs.iter().filter(aggregated).map(|parameter| parameter.name.clone());
    let mut names: Vec<Arc<str>> = Vec::new();
    for name in own.chain(returned_names(plan, &each.body)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The outputs that a call is known to return: those that are declared, else those of its plugin's manifest, else those of what it
/// passes on.
fn returned_names(plan: &Plan, call: &Node) -> Vec<Arc<str>> {
    if !call.outputs.is_empty() {
        return call.outputs.iter().map(|parameter| parameter.name.clone()).collect();
    }
    match &call.work {
        Work::Executor(_) => {
            let returned = plan.pinned(call).map(|pinned| pinned.output_names()).unwrap_or_default();
            returned.into_iter().map(Into::into).collect()
        }
        Work::Container(template) | Work::Wrapper(template) => match plan.kind(*template) {
            Some(TemplateKind::Wrapper(wrapped)) => returned_names(plan, wrapped),
            Some(TemplateKind::Loop(each)) => match &each.aggregate.parameters {
                Some(names) => names.clone(),
                None => declared_names(plan, call, each),
            },
            Some(TemplateKind::Pipeline(pipeline)) => {
                pipeline.nodes.last().map(|last| returned_names(plan, last)).unwrap_or_default()
            }
            Some(TemplateKind::Dag(_) | TemplateKind::Task) | None => Vec::new(),
        },
    }
}

/// An array, or JSON text of one; null is none.
fn items_from(expr: &Expr, view: &TaskEnv<'_>, doubts: &mut Doubts) -> Result<Vec<Value>, String> {
    let value = expr.eval(view, doubts).map_err(|error| error.to_string())?;
    let value = match &value {
        Value::String(text) => Value::from_json(text)
            .map_err(|error| format!("expected an array, or JSON text of one: {error}"))?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value,
    };
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => Ok(items.to_vec()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Err(format!("expected an array, not a value of type {}", value.type_name()))
        }
    }
}
