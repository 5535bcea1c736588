//! NoETL's form of a task: `- fetch_page: {kind: http, url: …, spec: {…}}`.

use std::collections::BTreeMap;

use serde_json::json;

use crate::{
    document::{
        ConditionsDoc, ExecutorDoc, ExprDoc, HooksDoc, ParametersDoc, PolicyDoc, SettingsDoc, TaskDoc,
        ValueDoc, WorkDoc,
        conditions::CONDITIONS,
        executor::{EXECUTOR_TYPE, labelled_config},
        expression::{CONDITION, VALUE},
        hooks::HOOKS,
        name::{LABEL, PARAMETER_NAME, check_parameter_name},
        parameters::{self, OUTPUTS},
        policy::POLICY,
        retry::{is_legacy, report_legacy},
        task::{DEADLINE, MAX_INACTIVITY, MAX_RUNTIME, ORDERED_BY_THE_PIPELINE, RecoveryDoc},
    },
    form::{
        AnyField as _, Cursor, Field, Form, Name, Object, Report, Rest, Rule, Site, TIMEOUT, Table, listed,
    },
    problem::codes::{values, warnings::PASSED_ON},
    time::Millis,
    tree::{Key, Tree, TreeNode},
};

/// A single member: the label and what the task is.
pub(super) const LABELLED: Form<TaskDoc> = Form::new(
    |cursor, report| {
        let (key, task) = cursor.each_member(report)?.next()?;
        labelled(key, &task, report)
    },
    |defs| json!({ "propertyNames": LABEL.schema(defs), "additionalProperties": defs.object(&LABELLED_TABLE) }),
);

static LABELLED_TABLE: Table = Table {
    name: "labelledTask",
    about: "A task of a pipeline as NoETL writes it, under its label; every member that is no field is an input of its name.",
    fields: &[&KIND, &SPEC, &WHEN, &OUTPUTS_FIELD, &PHASE_CONDITIONS, &HOOKS_FIELD, &RETRY],
    rules: &[Rule::Refused(ORDERED_BY_THE_PIPELINE)],
    rest: Rest::Named(|defs| PARAMETER_NAME.schema(defs)),
    foreign: &[],
    alone: "",
};

static KIND: Field<Name> = Field::required(
    "kind",
    "the executor's type",
    EXECUTOR_TYPE,
    "The executor's type, as in `executor.type`.",
);

static SPEC: Field<(SettingsDoc, Option<ValueDoc>)> = Field::optional(
    "spec",
    Form::new(spec, |defs| defs.object(&SPEC_TABLE)),
    "Settings of the engine for the task; unknown members reach the executor as `config.spec`.",
);

static WHEN: Field<ExprDoc> =
    Field::optional("when", CONDITION, "Evaluated when it is the task's turn: false skips it.");

static OUTPUTS_FIELD: Field<ParametersDoc> =
    Field::optional("outputs", OUTPUTS, "Outputs of the task; none declared passes everything.");

static PHASE_CONDITIONS: Field<ConditionsDoc> = Field::optional(
    "phaseConditions",
    CONDITIONS,
    "Expressions that decide an attempt's phase in place of its code.",
);

static HOOKS_FIELD: Field<HooksDoc> =
    Field::optional("hooks", HOOKS, "Tasks that run when this one changes its phase.");

static RETRY: Field<()> = Field::optional(
    "retry",
    Form::new(no_retry, |_| json!({ "not": {} })),
    "Refused: retries are rules with `do: retry` in `spec.policy`.",
);

static SPEC_TABLE: Table = Table {
    name: "labelledSpec",
    about: "The engine's settings of a labelled task; every other member, and a `timeout` that is an object, reaches the executor \
            unchanged as `config.spec`.",
    fields: &[&SPEC_POLICY, &SPEC_TIMEOUT, &MAX_RUNTIME, &MAX_INACTIVITY, &DEADLINE],
    rules: &[],
    rest: Rest::Anything,
    foreign: &[],
    alone: "",
};

static SPEC_POLICY: Field<PolicyDoc> =
    Field::optional("policy", POLICY, "Rules that say what happens after each attempt.");

static SPEC_TIMEOUT: Field<Option<Millis>> = Field::optional(
    "timeout",
    Form::new(
        |cursor, report| {
            if cursor.is_object() { Some(None) } else { TIMEOUT.read(cursor, report).map(Some) }
        },
        |defs| json!({ "anyOf": [TIMEOUT.schema(defs), { "type": "object" }] }),
    )
    .or_expression(),
    "How long the task may last from its first dispatch; an object is the executor's own.",
);

fn labelled(key: &Key, cursor: &Cursor<'_>, report: &Report) -> Option<TaskDoc> {
    let name_tree = Tree::new(TreeNode::String(key.name.clone()), key.span);
    let name = LABEL.read(&Cursor { tree: &name_tree, path: cursor.path.clone() }, report);
    let object = cursor.object(&LABELLED_TABLE, report)?;
    object.optional(&RETRY);
    let (settings, config) = object.optional(&SPEC).unwrap_or_default();
    let work = object
        .optional(&KIND)
        .map_or(WorkDoc::Unreadable, |kind| WorkDoc::Executor(ExecutorDoc { kind, config }));
    Some(TaskDoc {
        site: cursor.site(),
        name,
        work,
        dependencies: Vec::new(),
        arguments: ParametersDoc::default(),
        inputs: inputs(&object),
        outputs: ParametersDoc::field(&object, &OUTPUTS_FIELD),
        when: object.optional(&WHEN),
        memory: None,
        settings: SettingsDoc {
            phase_conditions: object.optional(&PHASE_CONDITIONS),
            hooks: object.optional(&HOOKS_FIELD),
            ..settings
        },
        written: written(&object),
    })
}

fn written(object: &Object<'_, '_>) -> BTreeMap<&'static str, Site> {
    let site = object.key_site(SPEC.name());
    ["policy", "timeout"].into_iter().filter_map(|field| Some((field, site.clone()?))).collect()
}

fn no_retry(cursor: &Cursor<'_>, report: &Report) -> Option<()> {
    if is_legacy(cursor) {
        report_legacy(cursor, true, report);
    } else {
        let problem = cursor
            .problem(&values::RULE_ACTION, "`retry` in a labelled task; expected a rule with `do: retry`");
        report.problem(problem.with_hint("write `spec: {policy: {rules: […]}}`"));
    }
    None
}

fn inputs(object: &Object<'_, '_>) -> ParametersDoc {
    let mut list = Vec::new();
    for (key, value) in object.rest() {
        let site = Site { path: value.path.clone(), span: key.span };
        let name = Name { value: key.name.clone(), site };
        check_parameter_name(&name, object.report);
        list.push(parameters::labelled(name, VALUE.read(&value, object.report)));
    }
    ParametersDoc { list, sound: true }
}

/// Warns about a key that reaches the executor though it looks like one of the task's.
fn warn_if_ours(key: &Key, cursor: &Cursor<'_>, report: &Report) {
    let own: Vec<_> = SPEC_TABLE.names().collect();
    let hint = match &*key.name {
        "timeout" => return,
        "retry" => Some("to have the engine retry, write a policy rule with `do: retry`".to_owned()),
        name if LABELLED_TABLE.mentions(name) => Some(format!("write `{name}` next to `spec`")),
        name => report.did_you_mean(name, own.iter().copied()),
    };
    let Some(hint) = hint else { return };
    let site = Site { path: cursor.path.key(key.name.clone()), span: key.span };
    let message =
        format!("`{}` in `spec` is the executor's, in `config.spec`; expected {}", key.name, listed(&own));
    report.warning(site.problem(&PASSED_ON, message).with_hint(hint));
}

/// The task's own settings, and everything else as the executor's.
fn spec(cursor: &Cursor<'_>, report: &Report) -> Option<(SettingsDoc, Option<ValueDoc>)> {
    let object = cursor.object(&SPEC_TABLE, report)?;
    let own_timeout = object.optional(&SPEC_TIMEOUT).flatten();
    let executors_timeout =
        object.members().filter(|(key, value)| &*key.name == "timeout" && value.is_object());
    let rest: Vec<_> = object
        .rest()
        .chain(executors_timeout)
        .map(|(key, value)| (key.clone(), value.tree.clone()))
        .collect();
    rest.iter().for_each(|(key, _)| warn_if_ours(key, cursor, report));
    let settings = SettingsDoc {
        timeout: own_timeout,
        recovery: object.optional(&SPEC_POLICY).map(RecoveryDoc::Policy),
        ..SettingsDoc::read_bounds(&object)
    };
    let config = if rest.is_empty() { None } else { labelled_config(rest, &cursor.site(), report) };
    Some((settings, config))
}
