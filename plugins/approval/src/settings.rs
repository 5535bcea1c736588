//! Settings in `executor.config`, which no response can change.

use phasm_sdk::{inputs::Fields, prelude::*};

use super::{people::People, schema};

/// Settings that there are. An unknown one is refused: a misspelt `approvers` would let everyone respond.
const KNOWN: [&str; 7] = ["schema", "rejection", "approvers", "notBy", "message", "details", "spec"];

inputs! {
    /// Effect of a rejection.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Rejection {
        /// The attempt ends Failed.
        Fail = "fail",
        /// The attempt succeeds, and later steps read `approved`.
        Continue = "continue",
    }
}

pub(crate) struct Settings {
    pub(crate) schema: Value,
    pub(crate) rejection: Rejection,
    pub(crate) people: People,
}

impl Settings {
    /// Reads `config`, or its `spec`, which is where the labelled form of a task has it.
    pub(crate) fn read(config: &Json) -> Result<Self> {
        let given: phasm_sdk::Map<String, Value> = config.parse()?;
        let spec = given.get("spec").cloned().unwrap_or_else(|| json!({}));
        let mut wrong = unknown(&given);
        wrong.extend(spec.as_object().map(unknown).unwrap_or_default());
        let people = People::read(|name| given.get(name).or_else(|| spec.get(name)), &mut wrong);
        let spec = spec.into();
        let settings: Inputs = given.into_iter().map(|(name, value)| (name, value.into())).collect();
        let mut fields = Fields::new(&settings, &spec);
        let schema = fields.or_else("schema", schema::default_schema);
        let rejection = fields.or_else("rejection", || Rejection::Fail);
        let mut problems = fields.into_problems();
        let unchecked = schema.iter().flat_map(schema::problems);
        unchecked.for_each(|problem| problems.push(format!("config `schema`: {problem}")));
        wrong.into_iter().for_each(|problem| problems.push(problem));
        match (schema, rejection) {
            (Some(schema), Some(rejection)) if problems.is_empty() => Ok(Self { schema, rejection, people }),
            _ => Err(problems.into()),
        }
    }
}

fn unknown(given: &phasm_sdk::Map<String, Value>) -> Vec<String> {
    // Names with a dot are the host's.
    let is_unknown = |name: &&String| !KNOWN.contains(&name.as_str()) && !name.starts_with("phasm.");
    let names = given.keys().filter(is_unknown);
    names.map(|name| format!("config `{name}` is not known; expected one of {}", KNOWN.join(", "))).collect()
}
