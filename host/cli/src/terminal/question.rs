//! Questions of tasks that wait: the values that they ask for, and the command lines that give them.

use phasm::engine::{
    run::TaskRun,
    value::{Map, Value},
};

use crate::command_line::Target;

/// Values that a suspended task asks for, by the schema in its output `asked`.
#[derive(Debug)]
pub(crate) struct Question {
    fields: Vec<QuestionField>,
}

#[derive(Debug)]
struct QuestionField {
    name: String,
    /// Type by the schema, such as `integer`.
    kind: String,
    is_required: bool,
}

impl Question {
    /// Reads the question of a task; one without a schema asks for no value by name.
    pub(crate) fn of(task: &TaskRun) -> Self {
        let asked = task.outputs.iter().find(|output| *output.name == *"asked");
        let fields = asked.and_then(|asked| asked.value.member("schema")).map(fields_of);
        Self { fields: fields.unwrap_or_default() }
    }

    /// Whether a yes or no is all that the task requires.
    pub(crate) fn is_decision(&self) -> bool {
        let mut required = self.required();
        required.next().is_some_and(|field| field.name == "approved") && required.next().is_none()
    }

    /// Command lines that respond to the task at `path`, each behind what it does and with a line break.
    pub(crate) fn how_to_respond(&self, target: &Target, run_id: &str, path: &str) -> String {
        if self.is_decision() {
            let command = |word| target.command(&[word, run_id, path]);
            return format!("to approve: {}\nto reject:  {}\n", command("approve"), command("reject"));
        }
        if self.fields.is_empty() {
            let command = target.command(&["respond", run_id, path, "{}"]);
            return format!("to respond, put the values between the braces: {command}\n");
        }
        format!("to respond: {}\n", self.respond_command(target, run_id, path))
    }

    /// Returns why a response that gives `values` only is not enough, if it is not: the values that are asked for, and the command that
    /// gives them.
    pub(crate) fn shortfall(
        &self,
        values: &Map,
        target: &Target,
        run_id: &str,
        path: &str,
    ) -> Option<String> {
        if self.required().all(|field| values.get(&*field.name).is_some()) {
            return None;
        }
        let asked: Vec<_> = self.fields.iter().map(QuestionField::described).collect();
        let command = self.respond_command(target, run_id, path);
        Some(format!("{path} asks for {}; give them with: {command}", asked.join(", ")))
    }

    fn respond_command(&self, target: &Target, run_id: &str, path: &str) -> String {
        let are_optional = self.required().next().is_none();
        let named = self.fields.iter().filter(|field| field.is_required || are_optional);
        let values: Vec<_> =
            named.map(|field| format!("{}={}", field.name, field.kind.to_ascii_uppercase())).collect();
        let mut words = vec!["respond", run_id, path];
        words.extend(values.iter().flat_map(|value| ["-p", value.as_str()]));
        target.command(&words)
    }

    fn required(&self) -> impl Iterator<Item = &QuestionField> {
        self.fields.iter().filter(|field| field.is_required)
    }
}

impl QuestionField {
    /// `size (integer)`.
    fn described(&self) -> String {
        let Self { name, kind, is_required } = self;
        format!("{name} ({kind}{})", if *is_required { "" } else { ", optional" })
    }
}

/// Properties of an object's schema, and names that it requires without a property.
fn fields_of(schema: &Value) -> Vec<QuestionField> {
    let required = schema.member("required").and_then(Value::as_array).unwrap_or_default();
    let required: Vec<&str> = required.iter().filter_map(Value::as_str).collect();
    let properties = schema.member("properties").and_then(Value::as_object);
    let mut fields: Vec<_> = properties
        .into_iter()
        .flatten()
        .map(|(name, property)| QuestionField {
            name: name.to_string(),
            kind: property.member("type").and_then(Value::as_str).unwrap_or("value").to_owned(),
            is_required: required.contains(&&**name),
        })
        .collect();
    for name in required {
        if !fields.iter().any(|field| field.name == name) {
            fields.push(QuestionField { name: name.to_owned(), kind: "value".to_owned(), is_required: true });
        }
    }
    fields
}
