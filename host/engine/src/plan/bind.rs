//! The plan of one run: settings that are expressions get the values that follow from the run's parameters.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    document::{ParameterDoc, SettingDoc, SettingValues, WorkflowDoc, uncalculated},
    expr::{Doubts, Env, EvalError, ValueTemplate},
    form::Site,
    names::workflow_parameter,
    problem::{Problem, Problems},
    tree::Tree,
    value::{Map, Value},
};

use super::{Draft, Plan, arguments::bound_value};

/// The parameters of a run, as an expression of a setting sees them.
struct Parameters<'a>(&'a Map);

impl Env for Parameters<'_> {
    fn get(&self, path: &[Arc<str>]) -> Value {
        bound_value(self.0, path).unwrap_or_default()
    }
}

fn evaluated(template: &ValueTemplate, parameters: &Map) -> Result<Value, String> {
    let value = template.eval(&Parameters(parameters), &mut Doubts::default());
    value.map_err(|EvalError(why)| why)
}

impl Plan {
    /// Returns the plan of a run with these parameters, which have been [bound](super::bind_arguments). A plan whose settings are
    /// all plain values is the plan of every run.
    ///
    /// # Errors
    /// All problems at once: expressions that fail, and values that the settings do not accept.
    pub fn bind(self: &Arc<Self>, parameters: &Map) -> Result<Arc<Self>, Problems> {
        if self.settings.is_empty() {
            return Ok(Arc::clone(self));
        }
        let mut known: BTreeMap<&str, Result<Value, String>> = BTreeMap::new();
        let mut values = SettingValues::new();
        let mut failed: Vec<Problem> = Vec::new();
        let mut is_same = true;
        for setting in &self.settings {
            let value = known.entry(&setting.source);
            match value.or_insert_with(|| evaluated(&setting.template, parameters)) {
                Ok(value) => {
                    is_same &= setting.value.as_ref() == Some(value);
                    values.insert(setting.path.to_string(), Ok(value.clone()));
                }
                Err(why) => {
                    let site = Site { path: setting.path.clone(), ..Site::default() };
                    failed.push(uncalculated(&setting.source, &site, why));
                }
            }
        }
        if is_same && failed.is_empty() {
            return Ok(Arc::clone(self));
        }
        let tree = Tree::from(&self.document.value());
        match Draft::read_with(&tree, values).rebind(self) {
            Ok(plan) if failed.is_empty() => Ok(Arc::new(plan)),
            Ok(_) => Err(failed.into()),
            Err(problems) => {
                failed.extend(problems);
                Err(failed.into())
            }
        }
    }

    /// Returns the values of its settings that are expressions, by their paths, as far as they are known.
    #[must_use]
    pub fn setting_values(&self) -> Map {
        let value = |setting: &super::SettingExpression| {
            Some((setting.path.to_string().into(), setting.value.clone()?))
        };
        self.settings.iter().filter_map(value).collect()
    }
}

/// Returns the values of the expressions that follow from the defaults of the workflow's parameters alone.
pub(super) fn by_default(doc: &WorkflowDoc) -> SettingValues {
    let arguments = &doc.spec.arguments;
    if doc.settings.is_empty() || !arguments.sound {
        return SettingValues::new();
    }
    let defaults: BTreeMap<&str, &Value> =
        arguments.list.iter().filter_map(|one| Some((&*one.name.value, default(one)?))).collect();
    let all: BTreeSet<&str> = arguments.names().collect();
    let mut values = SettingValues::new();
    for setting in &doc.settings {
        let Some(names) = names(setting, &all) else { continue };
        let known = names.iter().map(|name| Some((Arc::from(*name), (*defaults.get(name)?).clone())));
        if let Some(known) = known.collect::<Option<Map>>() {
            let path = setting.value.site.path.to_string();
            values.insert(path, evaluated(&setting.value.value, &known));
        }
    }
    values
}

/// The value that a parameter has in a run which is given none, where that is written.
fn default(parameter: &ParameterDoc) -> Option<&Value> {
    let value = parameter.value.as_ref().map(|value| value.value.as_literal());
    match value {
        Some(None) => None,
        Some(Some(value)) if !value.is_null() => Some(value),
        Some(Some(_)) | None if parameter.value_from.is_some() => None,
        Some(Some(_)) | None => parameter.default.as_ref()?.value.as_literal(),
    }
}

/// The parameters that a setting reads, which `all` can be; absent where it reads anything else.
fn names<'d>(setting: &'d SettingDoc, all: &BTreeSet<&'d str>) -> Option<BTreeSet<&'d str>> {
    let mut names = BTreeSet::new();
    for found in setting.value.reads() {
        match workflow_parameter(&found.read.path)? {
            [] => names.extend(all),
            [name, ..] => {
                names.insert(&**name);
            }
        }
    }
    Some(names)
}
