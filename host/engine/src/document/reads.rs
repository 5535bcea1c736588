//! Every path that a part of a document reads.

use super::{
    ConditionsDoc, HookDoc, KindDoc, OverDoc, ParameterDoc, ParametersDoc, ReadAt, RecoveryDoc, SettingsDoc,
    SourceDoc, TaskDoc, TemplateDoc, WorkDoc,
};

/// Takes one path that is read.
pub(crate) type Each<'e, 'a> = &'e mut dyn FnMut(ReadAt<'a>);

impl ParameterDoc {
    pub(crate) fn each_read<'a>(&'a self, each: Each<'_, 'a>) {
        self.value.iter().chain(&self.default).for_each(|value| value.reads().for_each(&mut *each));
        if let Some(SourceDoc::Expression(expr)) = &self.value_from {
            expr.reads().for_each(each);
        }
    }
}

impl ParametersDoc {
    pub(crate) fn each_read<'a>(&'a self, each: Each<'_, 'a>) {
        self.list.iter().for_each(|parameter| parameter.each_read(each));
    }
}

impl HookDoc {
    pub(crate) fn each_read<'a>(&'a self, each: Each<'_, 'a>) {
        self.arguments.each_read(each);
        self.when.iter().for_each(|when| when.reads().for_each(&mut *each));
    }
}

impl SettingsDoc {
    pub(crate) fn each_read<'a>(&'a self, each: Each<'_, 'a>) {
        match &self.recovery {
            Some(RecoveryDoc::Retry(retry)) => {
                retry.expression.iter().for_each(|expr| expr.reads().for_each(&mut *each));
            }
            Some(RecoveryDoc::Policy(policy)) => {
                for rule in &policy.rules {
                    rule.when.iter().for_each(|when| when.reads().for_each(&mut *each));
                    rule.set_iter
                        .iter()
                        .chain(&rule.set_ctx)
                        .for_each(|(_, value)| value.reads().for_each(&mut *each));
                }
            }
            None => {}
        }
        let conditions = self.phase_conditions.iter().flat_map(ConditionsDoc::expressions);
        conditions.for_each(|expr| expr.reads().for_each(&mut *each));
        self.hooks.iter().flatten().for_each(|hook| hook.each_read(each));
    }
}

impl TemplateDoc {
    /// Calls `each` for every expression that the template itself reads, not counting the tasks of a dag or pipeline.
    pub(crate) fn each_own_read<'a>(&'a self, each: Each<'_, 'a>) {
        if let KindDoc::Task(task) = &self.kind {
            return task.each_read(each);
        }
        self.inputs.each_read(each);
        self.outputs.each_read(each);
        self.settings.each_read(each);
        if let KindDoc::Loop(read) = &self.kind {
            read.arguments.each_read(each);
            match &read.over {
                OverDoc::Items(items) => {
                    items.iter().for_each(|item| item.value.reads().for_each(&mut *each));
                }
                OverDoc::ItemsFrom(expr) | OverDoc::Repeat(expr) => expr.reads().for_each(each),
                OverDoc::Sequence(_) | OverDoc::Unreadable => {}
            }
        }
    }
}

impl TaskDoc {
    pub(crate) fn each_read<'a>(&'a self, each: Each<'_, 'a>) {
        self.when.iter().for_each(|when| when.reads().for_each(&mut *each));
        [&self.arguments, &self.inputs, &self.outputs].into_iter().for_each(|list| list.each_read(each));
        if let WorkDoc::Executor(executor) = &self.work {
            executor.config.iter().for_each(|config| config.reads().for_each(&mut *each));
        }
        self.settings.each_read(each);
    }
}
