//! Settings in `executor.config`, which no response can change.

use phasm_sdk::{inputs::Fields, prelude::*};

use super::schema;

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
}

impl Settings {
    /// Reads `config`, or its `spec`, which is where the labelled form of a task has it.
    pub(crate) fn read(config: &Json) -> Result<Self> {
        let given: phasm_sdk::Map<String, Value> = config.parse()?;
        let spec = given.get("spec").cloned().unwrap_or_else(|| json!({})).into();
        let settings: Inputs = given.into_iter().map(|(name, value)| (name, value.into())).collect();
        let mut fields = Fields::new(&settings, &spec);
        let schema = fields.or_else("schema", schema::default_schema);
        let rejection = fields.or_else("rejection", || Rejection::Fail);
        let mut problems = fields.into_problems();
        let unknown = schema.iter().flat_map(schema::problems);
        unknown.for_each(|problem| problems.push(format!("config `schema`: {problem}")));
        match (schema, rejection) {
            (Some(schema), Some(rejection)) if problems.is_empty() => Ok(Self { schema, rejection }),
            _ => Err(problems.into()),
        }
    }
}
