//! The callers whose responses count: `approvers` and `notBy`.

use phasm_sdk::{Map, Value};

/// The callers that a workflow names.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct People {
    /// Callers who may respond; everyone, where the workflow names none.
    pub(crate) approvers: Option<Vec<String>>,
    /// Callers who may not.
    pub(crate) not_by: Vec<String>,
}

impl People {
    /// Reads both settings, of which `given` finds the value. A null is a mistake, and never means everyone: an expression may
    /// come to it.
    pub(crate) fn read<'v>(given: impl Fn(&str) -> Option<&'v Value>, problems: &mut Vec<String>) -> Self {
        let approvers = given("approvers").map(|value| names("approvers", value, problems));
        let not_by = given("notBy").map(|value| names("notBy", value, problems)).unwrap_or_default();
        if problems.is_empty()
            && let Some(approvers) = &approvers
        {
            if approvers.is_empty() {
                problems.push("config `approvers` is empty; expected at least one name".to_owned());
            } else if approvers.iter().all(|name| not_by.contains(name)) {
                problems.push("config `notBy` names all of `approvers`, so no one could respond".to_owned());
            }
        }
        Self { approvers, not_by }
    }

    /// Why a response of that caller does not count, if it does not.
    pub(crate) fn refusal(&self, by: Option<&str>) -> Option<String> {
        let Some(by) = by else {
            return self.names_any().then(|| {
                "the caller is not known, and the approval says who may respond; respond through a server with a key".to_owned()
            });
        };
        if self.not_by.iter().any(|name| name == by) {
            return Some(format!("{by} may not respond to this approval (`notBy`)"));
        }
        let approvers =
            self.approvers.as_ref().filter(|approvers| approvers.iter().all(|name| name != by))?;
        Some(format!("{by} is not one of the approvers: {}", approvers.join(", ")))
    }

    fn names_any(&self) -> bool {
        self.approvers.is_some() || !self.not_by.is_empty()
    }

    /// Adds what was set to the question.
    pub(crate) fn show(&self, asked: &mut Map<String, Value>) {
        if let Some(approvers) = &self.approvers {
            asked.insert("approvers".to_owned(), approvers.clone().into());
        }
        if !self.not_by.is_empty() {
            asked.insert("notBy".to_owned(), self.not_by.clone().into());
        }
    }
}

/// The names of a list. Each is a caller's name, as runs show it.
fn names(setting: &str, value: &Value, problems: &mut Vec<String>) -> Vec<String> {
    let Some(list) = value.as_array() else {
        problems.push(format!("config `{setting}`: expected a list of names, got {value}"));
        return Vec::new();
    };
    let mut names = Vec::with_capacity(list.len());
    for (index, name) in list.iter().enumerate() {
        match name.as_str().filter(|name| !name.trim().is_empty()) {
            Some(name) => names.push(name.to_owned()),
            None if name.is_null() => problems.push(format!(
                "config `{setting}[{index}]` is null, which names no caller; a task that was not resumed by a known caller has no \
                 `resumedBy`"
            )),
            None => problems.push(format!("config `{setting}[{index}]`: expected a name, got {name}")),
        }
    }
    names
}
