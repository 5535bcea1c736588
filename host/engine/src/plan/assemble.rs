//! The plan of a sound document.

mod cache;
mod merge;

use std::{cell::RefCell, sync::Arc};

use crate::{
    document::{
        DagDoc, ExecutorDoc, HookDoc, HooksDoc, KindDoc, LoopDoc, OverDoc, ParameterDoc, ParametersDoc,
        PipelineDoc, SettingDoc, SourceDoc, TaskDoc, TasksDoc, TemplateDoc, ValueDoc, WorkDoc,
    },
    expr::{Expr, ValueTemplate},
    form::Name,
    json_text::JsonText,
    value::{Map, Value},
};

use super::{
    Argument, Dag, ExecutorCall, Hook, HookId, Hooks, Level, Loop, LoopOver, Node, NodeIndex, Parameter,
    Pipeline, Plan, SettingExpression, Settings, Template, TemplateId, TemplateKind, Tolerance, ValueFrom,
    Work,
    executors::Defaults,
    resolve::{
        graph::{Graph, Graphs},
        index::{Callee, Index},
    },
};

use self::{
    cache::{PartsCache, SettingsKey, TemplateParts},
    merge::{CallSettings, Layers},
};

/// Assembles the plan; `None` only where the document was not sound.
pub(super) fn plan(
    index: &Index<'_>,
    graphs: &Graphs,
    defaults: &Defaults<'_>,
    document: JsonText,
) -> Option<Plan> {
    let doc = index.doc;
    let spec = &doc.spec;
    let assembler =
        Assembler { index, graphs, defaults, hook_calls: RefCell::default(), shared: RefCell::default() };
    let mut plan = Plan {
        name: doc.name.as_ref()?.value.clone(),
        namespace: doc.namespace(),
        version: doc.version.as_ref().map(|version| version.value.clone()),
        labels: doc.labels.clone(),
        cron: doc.cron.clone(),
        arguments: parameters(&spec.arguments),
        argument_paths: spec.arguments.list.iter().map(|argument| argument.site.path.clone()).collect(),
        arguments_path: spec.arguments_path.clone(),
        timeout: spec.timeout.length,
        timeout_pauses: spec.timeout.pauses,
        priority: spec.priority,
        parallelism: spec.parallelism,
        root: assembler.root()?,
        templates: index
            .templates()
            .map(|(id, template)| assembler.template(id, template))
            .collect::<Option<_>>()?,
        notify: spec.notify.iter().map(|name| name.value.clone()).collect(),
        hooks: assembler.hooks(&spec.hooks, Level::Node)?,
        hook_calls: Vec::new(),
        warnings: Vec::new(),
        document,
        executors: index.executors.clone(),
        settings: doc.settings.iter().map(|setting| setting_expression(index, setting)).collect(),
    };
    plan.hook_calls = assembler.hook_calls.into_inner();
    Some(plan)
}

fn setting_expression(index: &Index<'_>, setting: &SettingDoc) -> SettingExpression {
    let path = setting.value.site.path.clone();
    let within = index.templates().find(|(_, template)| path.is_below(&template.site.path)).map(|(id, _)| id);
    SettingExpression {
        path,
        source: Arc::clone(&setting.source),
        template: setting.value.value.clone(),
        within,
        value: setting.known.clone(),
    }
}

struct Assembler<'i, 'a> {
    index: &'i Index<'a>,
    graphs: &'i Graphs,
    defaults: &'i Defaults<'a>,
    /// Collected while calls are assembled.
    hook_calls: RefCell<Vec<Hook>>,
    shared: RefCell<PartsCache>,
}

/// The parts of a node that its call decides.
struct CallParts<'c> {
    name: Arc<str>,
    own: CallSettings<'c>,
    arguments: Vec<Argument>,
    when: Option<Expr>,
    dependencies: Vec<NodeIndex>,
}

impl Assembler<'_, '_> {
    fn template(&self, id: TemplateId, template: &TemplateDoc) -> Option<Template> {
        let kind = match &template.kind {
            KindDoc::Task(task) => match &task.work {
                WorkDoc::Template(name) => TemplateKind::Wrapper(Box::new(self.wrapped(task, name)?)),
                WorkDoc::Executor(_) | WorkDoc::Unreadable => TemplateKind::Task,
            },
            KindDoc::Dag(dag) => {
                TemplateKind::Dag(self.dag(dag, self.graphs.get(&id)?, template.children)?)
            }
            KindDoc::Loop(read) => TemplateKind::Loop(Box::new(self.loop_(read)?)),
            KindDoc::Pipeline(pipeline) => TemplateKind::Pipeline(self.pipeline(pipeline)?),
        };
        Some(Template {
            name: template.name.as_ref()?.value.clone(),
            inputs: parameters(&template.inputs),
            outputs: parameters(&template.outputs),
            kind,
        })
    }

    /// The call of the entrypoint, whose inputs take the workflow's parameters of the same name.
    fn root(&self) -> Option<Node> {
        let name = self.index.doc.spec.entrypoint.as_ref()?;
        let (_, template) = self.index.find(name)?;
        let declared = self.index.doc.spec.arguments.list.iter().map(|parameter| &parameter.name.value);
        let shared = declared.filter(|name| template.inputs.find(name).is_some());
        let arguments = shared.map(workflow_parameter).collect::<Option<_>>()?;
        self.call(self.index.called(name), CallParts { arguments, ..CallParts::named(&name.value) })
    }

    fn dag(&self, dag: &DagDoc, graph: &Graph, children: Option<Tolerance>) -> Option<Dag> {
        // Positions among the tasks that exist.
        let mut positions = Vec::with_capacity(graph.kept.len());
        let mut count = 0;
        for kept in &graph.kept {
            positions.push(kept.then_some(count));
            count += usize::from(*kept);
        }
        let mut nodes: Vec<Node> = Vec::with_capacity(count);
        for (position, task) in
            dag.tasks.list.iter().enumerate().filter(|(position, _)| graph.is_kept(*position))
        {
            let before = graph.dependencies.get(position)?.iter();
            let dependencies =
                before.map(|first| positions.get(*first).copied().flatten()).collect::<Option<_>>()?;
            nodes.push(self.task(task, children, dependencies)?);
        }
        for position in 0..nodes.len() {
            for first in nodes.get(position)?.dependencies.clone() {
                nodes.get_mut(first)?.dependents.push(position);
            }
        }
        let index = nodes.iter().enumerate().map(|(position, node)| (node.name.clone(), position)).collect();
        Some(Dag { nodes, index, fail_fast: dag.fail_fast, parallelism: dag.parallelism })
    }

    fn pipeline(&self, pipeline: &PipelineDoc) -> Option<Pipeline> {
        let tasks = pipeline.tasks.list.iter();
        let nodes: Vec<Node> =
            tasks.map(|task| self.pipeline_task(task, &pipeline.tasks)).collect::<Option<_>>()?;
        let index = nodes.iter().enumerate().map(|(position, node)| (node.name.clone(), position)).collect();
        Some(Pipeline { nodes, index, max_jumps: pipeline.max_jumps })
    }

    /// Nothing is tolerated in a pipeline but by its rules.
    fn pipeline_task(&self, task: &TaskDoc, labels: &TasksDoc) -> Option<Node> {
        let name = task.name.as_ref()?;
        let own = CallSettings {
            labels: Some(labels),
            tolerance: Some(Tolerance::default()),
            ..CallSettings::of(&task.settings)
        };
        self.written(task, CallParts { own, ..CallParts::named(&name.value) })
    }

    fn task(
        &self,
        task: &TaskDoc,
        children: Option<Tolerance>,
        dependencies: Vec<NodeIndex>,
    ) -> Option<Node> {
        let name = task.name.as_ref()?;
        let own = CallSettings { children, ..CallSettings::of(&task.settings) };
        self.written(task, CallParts { own, dependencies, ..CallParts::named(&name.value) })
    }

    fn written(&self, task: &TaskDoc, calling: CallParts<'_>) -> Option<Node> {
        let when = task.when.as_ref().map(|when| when.expr.clone());
        let calling = CallParts { when, arguments: arguments(&task.arguments), ..calling };
        match &task.work {
            WorkDoc::Executor(executor) => self.inline(task, executor, calling),
            WorkDoc::Template(_) | WorkDoc::Unreadable => {
                let mut node = self.call(self.index.callee(task), calling)?;
                if let (Work::Executor(call), Some(memory)) = (&mut node.work, task.memory) {
                    Arc::make_mut(call).memory = Some(memory);
                }
                Some(node)
            }
        }
    }

    fn inline(&self, task: &TaskDoc, executor: &ExecutorDoc, calling: CallParts<'_>) -> Option<Node> {
        let manifest = self.defaults.get(&*executor.kind.value);
        let levels = Layers { dialect: self.index.doc.dialect, own: calling.own, template: None, manifest };
        let common = TemplateParts {
            work: Work::Executor(Arc::new(executor_call(executor, task.memory))),
            inputs: parameters(&task.inputs).into(),
            outputs: parameters(&task.outputs).into(),
        };
        Some(node(calling, None, common, self.settings(&levels)?))
    }

    fn call(&self, callee: Callee<'_>, calling: CallParts<'_>) -> Option<Node> {
        let (id, template) = callee.template()?;
        let common = self.common(id, template)?;
        let settings = self.settings_of_call(id, template, calling.own)?;
        Some(node(calling, Some(id), common, settings))
    }

    /// Returns the parts of a node that its template alone decides; they are assembled once.
    fn common(&self, id: TemplateId, template: &TemplateDoc) -> Option<TemplateParts> {
        if let Some(known) = self.shared.borrow().common(id) {
            return Some(known);
        }
        let work = match &template.kind {
            KindDoc::Task(task) => match &task.work {
                WorkDoc::Executor(executor) => Work::Executor(Arc::new(executor_call(executor, task.memory))),
                WorkDoc::Template(_) => Work::Wrapper(id),
                WorkDoc::Unreadable => return None,
            },
            KindDoc::Dag(_) | KindDoc::Loop(_) | KindDoc::Pipeline(_) => Work::Container(id),
        };
        let (inputs, outputs) = (parameters(&template.inputs).into(), parameters(&template.outputs).into());
        let common = TemplateParts { work, inputs, outputs };
        self.shared.borrow_mut().keep_common(id, &common);
        Some(common)
    }

    /// The settings of a call, assembled once for all calls that write none.
    fn settings_of_call(
        &self,
        id: TemplateId,
        template: &TemplateDoc,
        own: CallSettings<'_>,
    ) -> Option<Arc<Settings>> {
        let key = SettingsKey::of(id, &own);
        if let Some(known) = key.and_then(|key| self.shared.borrow().settings(key)) {
            return Some(known);
        }
        let executor = match &template.kind {
            KindDoc::Task(task) => task.executor(),
            KindDoc::Dag(_) | KindDoc::Loop(_) | KindDoc::Pipeline(_) => None,
        };
        let manifest = executor.and_then(|executor| self.defaults.get(&*executor.kind.value));
        let settings = self.settings(&Layers {
            dialect: self.index.doc.dialect,
            own,
            template: Some(&template.settings),
            manifest,
        })?;
        if let Some(key) = key {
            self.shared.borrow_mut().keep_settings(key, &settings);
        }
        Some(settings)
    }

    fn settings(&self, levels: &Layers<'_>) -> Option<Arc<Settings>> {
        levels.settings(|hooks, level| self.hooks(hooks, level)).map(Arc::new)
    }

    /// The call that each attempt of a wrapper makes.
    fn wrapped(&self, task: &TaskDoc, container: &Name) -> Option<Node> {
        let calling =
            CallParts { arguments: arguments(&task.arguments), ..CallParts::named(&container.value) };
        self.call(self.index.called(container), calling)
    }

    fn loop_(&self, read: &LoopDoc) -> Option<Loop> {
        let body = read.body.as_ref()?;
        let own = CallSettings { tolerance: read.continue_on, ..CallSettings::default() };
        let calling =
            CallParts { own, arguments: arguments(&read.arguments), ..CallParts::named(&body.value) };
        let over = match &read.over {
            OverDoc::ItemsFrom(expr) => LoopOver::ItemsFrom(expr.expr.clone()),
            OverDoc::Repeat(expr) => LoopOver::Repeat(expr.expr.clone()),
            OverDoc::Items(_) | OverDoc::Sequence(_) | OverDoc::Unreadable => {
                LoopOver::Items(read.over.items()?)
            }
        };
        Some(Loop {
            body: self.call(self.index.called(body), calling)?,
            over,
            concurrency: read.concurrency,
            max_iterations: read.max_iterations,
            aggregate: read.aggregate(),
        })
    }

    fn hooks(&self, hooks: &HooksDoc, level: Level) -> Option<Hooks> {
        hooks.iter().map(|hook| Some((hook.kind, self.hook(hook, level)?))).collect()
    }

    fn hook(&self, hook: &HookDoc, level: Level) -> Option<HookId> {
        let name = hook.template.as_ref()?;
        let (_, template) = self.index.find(name)?;
        let calling = CallParts {
            own: CallSettings { hook_run: true, ..CallSettings::default() },
            arguments: arguments(&hook.arguments),
            ..CallParts::named(template.name.as_ref().map_or(&name.value, |name| &name.value))
        };
        let node = self.call(self.index.called(name), calling)?;
        let when = hook.when.as_ref().map(|when| when.expr.clone());
        let mut calls = self.hook_calls.borrow_mut();
        calls.push(Hook { node, when, level });
        Some(calls.len() - 1)
    }
}

fn node(
    calling: CallParts<'_>,
    template: Option<TemplateId>,
    common: TemplateParts,
    settings: Arc<Settings>,
) -> Node {
    Node {
        name: calling.name,
        template,
        work: common.work,
        dependencies: calling.dependencies,
        dependents: Vec::new(),
        when: calling.when,
        arguments: calling.arguments,
        inputs: common.inputs,
        outputs: common.outputs,
        settings,
    }
}

impl CallParts<'_> {
    fn named(name: &Arc<str>) -> Self {
        Self {
            name: name.clone(),
            own: CallSettings::default(),
            arguments: Vec::new(),
            when: None,
            dependencies: Vec::new(),
        }
    }
}

fn executor_call(executor: &ExecutorDoc, memory: Option<u64>) -> ExecutorCall {
    let empty = || ValueTemplate::Literal(Value::from(Map::new()));
    ExecutorCall {
        executor_type: executor.kind.value.clone(),
        config: executor.config.as_ref().map_or_else(empty, |config| config.value.clone()),
        memory,
    }
}

/// Brackets, as a parameter's name may end in a hyphen.
fn workflow_parameter(name: &Arc<str>) -> Option<Argument> {
    let expr = Expr::compile(&format!("workflow.parameters['{name}']")).ok()?;
    Some(Argument { name: name.clone(), value: None, value_from: Some(ValueFrom::Expression(expr)) })
}

fn parameters(doc: &ParametersDoc) -> Vec<Parameter> {
    doc.list.iter().map(parameter).collect()
}

fn parameter(doc: &ParameterDoc) -> Parameter {
    let value = |value: &Option<ValueDoc>| value.as_ref().map(|value| value.value.clone());
    Parameter {
        name: doc.name.value.clone(),
        kind: doc.kind,
        value: value(&doc.value),
        value_from: doc.value_from.as_ref().map(value_from),
        default: value(&doc.default),
        allowed: doc.allowed.clone(),
        description: doc.description.clone(),
    }
}

fn arguments(doc: &ParametersDoc) -> Vec<Argument> {
    let argument = |doc: &ParameterDoc| Argument {
        name: doc.name.value.clone(),
        value: doc.value.as_ref().map(|value| value.value.clone()),
        value_from: doc.value_from.as_ref().map(value_from),
    };
    doc.list.iter().map(argument).collect()
}

fn value_from(source: &SourceDoc) -> ValueFrom {
    match source {
        SourceDoc::Expression(expr) => ValueFrom::Expression(expr.expr.clone()),
        SourceDoc::Secret(secret) => ValueFrom::Secret(secret.clone()),
    }
}
