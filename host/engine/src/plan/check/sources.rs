//! Whether every input of every call has a source, and whether literal values fit.

use std::collections::BTreeSet;

use crate::{
    document::{
        HookDoc, KindDoc, LoopDoc, OverDoc, ParametersDoc, TaskDoc, TemplateDoc, WorkDoc, check_literal,
    },
    expr::ValueTemplate,
    form::{Name, Site},
    plan::resolve::index::{Callee, Index, hooks_of, tasks_of},
    problem::codes::{bindings::NO_SOURCE, warnings::UNDECLARED_ARGUMENT},
    value::Value,
};

/// Arguments of a call that are compared with an input's name.
const MAX_COMPARED_ARGUMENTS: usize = 64;

/// Checks every call in the document.
pub(super) fn check(index: &Index<'_>) {
    let spec = &index.doc.spec;
    if let Some((name, (_, template))) =
        spec.entrypoint.as_ref().and_then(|name| Some((name, index.find(name)?)))
    {
        check_root(index, name, template);
    }
    for hook in &spec.hooks {
        check_hook(index, hook);
    }
    for (_, template) in index.templates() {
        for hook in hooks_of(template) {
            check_hook(index, hook);
        }
        match &template.kind {
            KindDoc::Dag(_) | KindDoc::Pipeline(_) => {
                for task in tasks_of(template).into_iter().flat_map(|tasks| &tasks.list) {
                    check_task(index, task);
                }
            }
            KindDoc::Loop(read) => check_body(index, read),
            KindDoc::Task(task) => check_wrapped(index, task, template),
        }
    }
}

/// A call of something that declares inputs.
struct CallSite<'a> {
    site: &'a Site,
    /// Name of the called template or task, for messages.
    callee: &'a str,
    inputs: &'a ParametersDoc,
    arguments: &'a ParametersDoc,
    others: Others,
}

/// Sources besides arguments.
enum Others {
    /// None.
    None,
    /// The fields that every item of a loop has.
    Fields(BTreeSet<String>),
    /// The workflow's parameters, for the entrypoint.
    Workflow(BTreeSet<String>),
    /// Any value, unknown before the run.
    Anything,
}

impl CallSite<'_> {
    fn check(&self, index: &Index<'_>) {
        self.check_sources(index);
        for argument in &self.arguments.list {
            let Some(input) = self.inputs.find(&argument.name.value) else {
                self.warn_undeclared(index, &argument.name);
                continue;
            };
            if let Some(value) = &argument.value {
                check_literal(value, input.kind, &input.allowed, index.report);
            }
        }
    }

    fn check_sources(&self, index: &Index<'_>) {
        if !self.arguments.sound {
            return;
        }
        for input in self.inputs.list.iter().filter(|input| !input.has_source) {
            let name = &*input.name.value;
            let supplied = self.arguments.find(name).is_some()
                || match &self.others {
                    Others::None => false,
                    Others::Fields(names) | Others::Workflow(names) => names.contains(name),
                    Others::Anything => true,
                };
            if !supplied {
                let message = format!(
                    "input `{name}` of `{}` has no source; expected an argument, or a value or default",
                    self.callee
                );
                let problem = self.site.problem(&NO_SOURCE, message);
                let supply = match self.others {
                    Others::Workflow(_) => format!("declare `{name}` in {}", index.doc.spec.declares()),
                    Others::None | Others::Fields(_) | Others::Anything => {
                        format!("pass an argument `{name}`")
                    }
                };
                let misnamed = self.misnamed(index, name).map(|argument| {
                    format!("the argument `{argument}` is not an input of `{}`: write `{name}`", self.callee)
                });
                let hint = misnamed.unwrap_or_else(|| {
                    format!("{supply}, or declare a `default` for it{}", self.told_undeclared())
                });
                index.report.problem(problem.with_hint(hint));
            }
        }
    }

    fn undeclared(&self) -> impl Iterator<Item = &str> {
        self.arguments.names().filter(|argument| self.inputs.find(argument).is_none())
    }

    fn told_undeclared(&self) -> String {
        let first = self.undeclared().next();
        first.map_or_else(String::new, |argument| {
            format!("; `{argument}` is not an input of `{}`", self.callee)
        })
    }

    /// The argument that was probably meant for the input `name`: it is no input itself, and is called nearly so.
    fn misnamed(&self, index: &Index<'_>, name: &str) -> Option<&str> {
        self.undeclared()
            .take(MAX_COMPARED_ARGUMENTS)
            .find(|argument| index.report.did_you_mean(argument, [name]).is_some())
    }

    fn warn_undeclared(&self, index: &Index<'_>, name: &Name) {
        if !self.inputs.sound {
            return;
        }
        let message =
            format!("`{}` declares no input `{}`; expected a declared one", self.callee, name.value);
        let warning = name.problem(&UNDECLARED_ARGUMENT, message);
        index.report.warning(match index.report.did_you_mean(&name.value, self.inputs.names()) {
            Some(hint) => warning.with_hint(hint),
            None => warning.with_hint("it is passed on all the same"),
        });
    }
}

fn check_root(index: &Index<'_>, name: &Name, template: &TemplateDoc) {
    let arguments = &index.doc.spec.arguments;
    let names = arguments.names().map(str::to_owned).collect();
    let others = if arguments.sound { Others::Workflow(names) } else { Others::Anything };
    let none = ParametersDoc::default();
    let (site, callee) = (&name.site, &*name.value);
    CallSite { site, callee, inputs: &template.inputs, arguments: &none, others }.check(index);
    for argument in &arguments.list {
        if let Some(input) = template.inputs.find(&argument.name.value) {
            for value in argument.value.iter().chain(&argument.default) {
                check_literal(value, input.kind, &input.allowed, index.report);
            }
        }
    }
}

fn check_task(index: &Index<'_>, task: &TaskDoc) {
    let own = task.name.as_ref().map_or("", |name| &*name.value);
    let passing = |callee, inputs| CallSite {
        site: task.name.as_ref().map_or(&task.site, |name| &name.site),
        callee,
        inputs,
        arguments: &task.arguments,
        others: Others::None,
    };
    match index.callee(task) {
        Callee::Inline => passing(own, &task.inputs).check(index),
        callee @ (Callee::Leaf(..) | Callee::Wrapper(..) | Callee::Container(..) | Callee::Unknown) => {
            if let Some((_, template)) = callee.template() {
                let name = template.name.as_ref().map_or("", |name| &*name.value);
                passing(name, &template.inputs).check(index);
            }
        }
    }
}

/// Hooks may leave inputs without a source (R-S12).
fn check_hook(index: &Index<'_>, hook: &HookDoc) {
    let Some((name, (_, template))) = hook.template.as_ref().and_then(|name| Some((name, index.find(name)?)))
    else {
        return;
    };
    let others = Others::Anything;
    let (site, callee) = (&hook.site, &*name.value);
    CallSite { site, callee, inputs: &template.inputs, arguments: &hook.arguments, others }.check(index);
}

fn check_body(index: &Index<'_>, read: &LoopDoc) {
    let Some((name, (_, template))) = read.body.as_ref().and_then(|name| Some((name, index.find(name)?)))
    else {
        return;
    };
    let (site, callee) = (&name.site, &*name.value);
    let others = item_fields(&read.over);
    CallSite { site, callee, inputs: &template.inputs, arguments: &read.arguments, others }.check(index);
}

fn check_wrapped(index: &Index<'_>, task: &TaskDoc, template: &TemplateDoc) {
    let (WorkDoc::Template(name), Some((_, wrapped))) = (&task.work, index.wrapped(template)) else { return };
    let (site, callee) = (&name.site, &*name.value);
    CallSite { site, callee, inputs: &wrapped.inputs, arguments: &task.arguments, others: Others::None }
        .check(index);
}

/// The arguments that the items of a loop bring along: the fields that all of them have (R-S5).
fn item_fields(over: &OverDoc) -> Others {
    let items = match over {
        OverDoc::Items(items) => items,
        OverDoc::ItemsFrom(_) | OverDoc::Unreadable => return Others::Anything,
        OverDoc::Sequence(_) | OverDoc::Repeat(_) => return Others::None,
    };
    let mut common: Option<BTreeSet<String>> = None;
    for item in items {
        let fields: BTreeSet<String> = match &item.value.value {
            ValueTemplate::Placeholder(_) => continue,
            ValueTemplate::Object(members) => members.iter().map(|(name, _)| name.to_string()).collect(),
            ValueTemplate::Literal(Value::Object(map)) => map.keys().map(ToString::to_string).collect(),
            ValueTemplate::Literal(_) | ValueTemplate::Text(_) | ValueTemplate::Array(_) => BTreeSet::new(),
        };
        common =
            Some(common.map_or(fields.clone(), |common| common.intersection(&fields).cloned().collect()));
    }
    // Without any item, or with unknown ones only, nothing is missing for certain.
    common.map_or(Others::Anything, Others::Fields)
}
