//! Applying what containers and wrappers do with their children: opening, releasing, advancing.

use std::sync::Arc;

use super::{MOST_TASK_RUNS, Run, apply::begin_attempt, node_at};
use crate::{
    event::{ScopeOpened, TaskId},
    phase::Phase,
    plan::{Loop, LoopOver, NodeIndex, TemplateId, TemplateKind, Work},
    policy::Verdict,
    run::state::scope::{Course, Ended, LoopCourse, Next, PipelineCourse, Scope, is_failure, satisfies},
    run::state::task::{Place, TaskRun},
    value::Value,
};

impl Run {
    pub(in crate::run) fn apply_scope_opened(&mut self, opened: &ScopeOpened) -> Result<(), String> {
        let plan = Arc::clone(&self.plan);
        let container = self.existing(opened.task)?;
        container.inputs = opened.inputs.clone();
        container.rebind = false;
        let template = match node_at(&plan, container.place).work {
            Work::Wrapper(template) => {
                self.open_attempt(opened.task, template);
                return Ok(());
            }
            Work::Container(template) => template,
            Work::Executor(_) => return Err(format!("task run {} is not a container", opened.task)),
        };
        match plan.kind(template) {
            Some(TemplateKind::Dag(dag)) => {
                let waits = |index: usize| dag.nodes.get(index).map_or(0, |node| node.dependencies.len());
                let place = |index| (Place::Dag(template, index), count(waits(index)));
                self.populate(opened.task, template, |_| Course::Dag, dag.nodes.len(), place);
            }
            Some(TemplateKind::Loop(each)) => self.open_loop(opened, template, each),
            Some(TemplateKind::Pipeline(pipeline)) => {
                let course =
                    |tasks: &[TaskId]| Course::Pipeline(Box::new(PipelineCourse::new(tasks.to_vec())));
                let place = |index| (Place::Entry(template, index, 0), u32::from(index > 0));
                self.populate(opened.task, template, course, pipeline.nodes.len(), place);
            }
            Some(TemplateKind::Task | TemplateKind::Wrapper(_)) | None => {
                return Err(format!("the template of task run {} cannot be opened", opened.task));
            }
        }
        Ok(())
    }

    fn open_loop(&mut self, opened: &ScopeOpened, template: TemplateId, each: &Loop) {
        let items = opened.items.clone().unwrap_or_default();
        let length = if matches!(each.over, LoopOver::Repeat(_)) { 1 } else { items.len() };
        let at_once = each.concurrency.map_or(length, |most| length.min(most as usize));
        let course = |_: &[TaskId]| Course::Loop(LoopCourse { items, released: at_once });
        let place = |index| (Place::Iteration(template, count(index)), u32::from(index >= at_once));
        self.populate(opened.task, template, course, length, place);
    }

    /// Gives a container `length` children; `place` tells where each stands and how much holds it back.
    fn populate(
        &mut self,
        container: TaskId,
        template: TemplateId,
        course: impl FnOnce(&[TaskId]) -> Course,
        length: usize,
        place: impl Fn(usize) -> (Place, u32),
    ) {
        let first = self.tasks.len();
        let children: Vec<TaskId> = (first..first + length).map(|id| TaskId(count(id))).collect();
        let outer_limit = self.task(container).and_then(|task| task.limit);
        let mut scope = Scope::new(template, course(&children), outer_limit);
        scope.open = count(length);
        scope.undispatched = scope.open;
        scope.children = children;
        if let Some(task) = self.task_mut(container) {
            task.scope = Some(Box::new(scope));
        }
        self.tasks.reserve(length);
        let limit = self.inner_limit(container);
        for index in 0..length {
            let (place, unmet) = place(index);
            self.create(Some(container), place, unmet, limit);
        }
    }

    /// The `parallelism` that children of a container stand under first.
    fn inner_limit(&self, container: TaskId) -> Option<TaskId> {
        let task = self.task(container)?;
        let own = task.scope.as_ref().and_then(|scope| self.parallelism(scope));
        if own.is_some() { Some(container) } else { task.limit }
    }

    /// Adds one more child that nothing holds back.
    fn add_child(&mut self, container: TaskId, place: Place) {
        let id = self.next_id();
        if let Some(scope) = self.scope_mut(container) {
            scope.add(id);
        }
        let limit = self.inner_limit(container);
        self.create(Some(container), place, 0, limit);
    }

    /// A wrapper's next attempt: its call, afresh (R-R9).
    fn open_attempt(&mut self, id: TaskId, template: TemplateId) {
        self.dequeue(id);
        let Some(wrapper) = self.task_mut(id) else { return };
        begin_attempt(wrapper);
        let place = Place::Attempt(template, wrapper.attempt);
        let limit = wrapper.limit;
        wrapper.scope.get_or_insert_with(|| Box::new(Scope::new(template, Course::Attempts, limit)));
        self.add_child(id, place);
    }

    pub(in crate::run) fn apply_repeated(&mut self, container: TaskId) -> Result<(), String> {
        let scope = self.existing(container)?.scope.as_ref();
        let Some(scope) = scope.filter(|scope| matches!(scope.course, Course::Loop(_))) else {
            return Err(format!("task run {container} is not an open loop"));
        };
        let place = Place::Iteration(scope.template, count(scope.children.len()));
        self.add_child(container, place);
        Ok(())
    }

    /// Whether an end satisfies those who wait for it, and whether it is a failure that nobody tolerates.
    pub(in crate::run) fn weigh(&self, task: &TaskRun) -> (bool, bool) {
        let satisfied = satisfies(self.node(task).settings.continue_on, task.phase, task.reason)
            || task.verdict.is_some_and(Verdict::tolerates);
        (satisfied, is_failure(task.phase, task.reason) && !satisfied)
    }

    /// Counts an ended child in its container, and lets those go that it held back.
    pub(in crate::run) fn tell_parent(&mut self, id: TaskId, parent: TaskId) {
        let Some(task) = self.task(id) else { return };
        let (satisfied, failed) = self.weigh(task);
        let child = Ended { task: id, phase: task.phase, reason: task.reason, message: task.message.clone() };
        let Some(scope) = self.scope_mut(parent) else { return };
        scope.count(child, failed);
        let whole = scope.failures.worst().is_none();
        match scope.course {
            Course::Dag if satisfied => self.release_dependents(id, parent),
            Course::Loop(_) if whole => self.release_iteration(parent),
            Course::Pipeline(_) => self.advance_pipeline(id, parent, satisfied && whole),
            Course::Dag | Course::Loop(_) | Course::Attempts => {}
        }
    }

    fn release_dependents(&mut self, id: TaskId, parent: TaskId) {
        let plan = Arc::clone(&self.plan);
        let Some(node) = self.task(id).map(|task| node_at(&plan, task.place)) else { return };
        for index in &node.dependents {
            let scope = self.task(parent).and_then(|task| task.scope.as_ref());
            if let Some(dependent) = scope.and_then(|scope| scope.children.get(*index).copied()) {
                self.release(dependent);
            }
        }
    }

    /// Takes one of the things away that hold a task run back.
    fn release(&mut self, id: TaskId) {
        let Some(task) = self.task_mut(id) else { return };
        task.unmet = task.unmet.saturating_sub(1);
        if task.unmet == 0 && task.phase == Phase::Created {
            self.becomes_ready(id);
        }
    }

    /// `concurrency`: an iteration that has ended makes room for the next (R-S5).
    fn release_iteration(&mut self, container: TaskId) {
        let Some(scope) = self.scope_mut(container) else { return };
        let Course::Loop(course) = &mut scope.course else { return };
        if let Some(next) = scope.children.get(course.released).copied() {
            course.released += 1;
            self.release(next);
        }
    }

    /// A pipeline goes on behind a task that has ended, as its rules said or in order (R-N11).
    fn advance_pipeline(&mut self, id: TaskId, container: TaskId, satisfied: bool) {
        let plan = Arc::clone(&self.plan);
        let Some(task) = self.task(id) else { return };
        let (Place::Entry(template, index, _), entered) = (task.place, task.unmet == 0) else { return };
        let (phase, verdict) = (task.phase, task.verdict);
        let Some(TemplateKind::Pipeline(pipeline)) = plan.kind(template) else { return };
        let full = self.tasks.len() >= MOST_TASK_RUNS;
        let Some(course) = self.scope_mut(container).and_then(Scope::pipeline_mut) else { return };
        if !entered {
            return;
        }
        if let Some(slot) = course.ended.get_mut(index) {
            *slot = Some(id);
        }
        if phase == Phase::Succeeded {
            course.previous = Some(id);
        }
        if phase != Phase::Skipped {
            course.last = Some(id);
        }
        if !satisfied || course.next != Next::Task(index) {
            return;
        }
        course.next = match verdict {
            Some(Verdict::Jump(_)) if full || course.jumps >= pipeline.max_jumps => Next::TooManyJumps,
            Some(Verdict::Jump(to)) => {
                course.jumps += 1;
                Next::Task(to)
            }
            Some(Verdict::Break) => Next::End,
            Some(Verdict::Continue | Verdict::Retry { .. } | Verdict::Fail) | None => {
                if index + 1 < pipeline.nodes.len() { Next::Task(index + 1) } else { Next::End }
            }
        };
        if let Next::Task(next) = course.next {
            self.enter_task(container, template, next);
        }
    }

    /// Enters a pipeline's task: its first run, or another if that has ended (R-N3).
    fn enter_task(&mut self, container: TaskId, template: TemplateId, index: NodeIndex) {
        let next = self.next_id();
        let Some(course) = self.scope_mut(container).and_then(Scope::pipeline_mut) else { return };
        let (jumps, Some(latest)) = (course.jumps, course.latest.get_mut(index)) else { return };
        let first = *latest;
        if self.task(first).is_some_and(|task| task.phase == Phase::Created) {
            return self.release(first);
        }
        if let Some(course) = self.scope_mut(container).and_then(Scope::pipeline_mut)
            && let Some(latest) = course.latest.get_mut(index)
        {
            *latest = next;
        }
        self.add_child(container, Place::Entry(template, index, jumps));
    }

    /// `loop.item` of an iteration.
    pub(in crate::run) fn item(&self, task: &TaskRun) -> Option<&Value> {
        let (Place::Iteration(_, index), Some(container)) = (task.place, task.parent) else { return None };
        match &self.task(container)?.scope.as_ref()?.course {
            Course::Loop(course) => course.items.get(index as usize),
            Course::Dag | Course::Pipeline(_) | Course::Attempts => None,
        }
    }
}

/// A length or position as the engine counts; more than 2^32 of anything does not fit into memory.
fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
