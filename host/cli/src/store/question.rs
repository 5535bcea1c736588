//! The question of a task that waits: the values that it expects, and the commands that respond to it.

use phasm::engine::{
    did_you_mean,
    run::{Run, TaskRun},
    value::{Map, Value},
};

use crate::{command_line::Target, failure::Failure, terminal::text};

/// Most characters of a description, or of the values to choose from.
const MAX_CHARS: usize = 160;

/// Command that responds to a task that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseCommand {
    Approve,
    Reject,
    Respond,
}

impl ResponseCommand {
    /// Its name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Respond => "respond",
        }
    }

    /// Word for a response that was carried out.
    pub(crate) const fn done(self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::Reject => "rejected",
            Self::Respond => "resumed",
        }
    }
}

/// The schema of the response that a task expects, in its output `asked`.
#[derive(Clone, Copy)]
pub(crate) struct Question<'r> {
    run: &'r Run,
    task: &'r TaskRun,
    schema: Option<&'r Value>,
}

impl<'r> Question<'r> {
    pub(crate) fn of(run: &'r Run, task: &'r TaskRun) -> Self {
        let asked = task.outputs.iter().find(|output| *output.name == *"asked");
        Self { run, task, schema: asked.and_then(|asked| asked.value.member("schema")) }
    }

    fn required(&self) -> Vec<&'r str> {
        let names = self.schema.and_then(|schema| schema.member("required")).and_then(Value::as_array);
        names.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    fn properties(&self) -> Option<&'r Map> {
        self.schema?.member("properties")?.as_object()
    }

    fn property(&self, name: &str) -> Option<&'r Value> {
        self.properties()?.get(name)
    }

    /// Returns whether `approved` is all that the task requires.
    fn asks_for_approval(&self) -> bool {
        self.required() == ["approved"]
    }

    /// Returns whether the task takes a text of that name.
    pub(crate) fn takes_text(&self, name: &str) -> bool {
        let kind = self.property(name).and_then(|schema| schema.member("type"));
        kind.and_then(Value::as_str) == Some("string")
    }

    /// Returns the commands that respond to the task.
    fn answering(&self) -> &'static [ResponseCommand] {
        if self.asks_for_approval() {
            &[ResponseCommand::Approve, ResponseCommand::Reject]
        } else {
            &[ResponseCommand::Respond]
        }
    }

    /// Returns the word for the response that the task waits for.
    pub(crate) fn waits_for(&self) -> &'static str {
        if self.asks_for_approval() { "approval" } else { "a response" }
    }

    /// Returns the question in words, on one line.
    pub(crate) fn words(&self) -> String {
        let message = if self.task.message.is_empty() { "waits for a response" } else { &*self.task.message };
        text::clean(message).into_owned()
    }

    /// Returns the commands that respond, each as it is typed.
    pub(crate) fn command_lines(&self, target: &Target) -> Vec<String> {
        self.answering().iter().map(|command| self.command_line(*command, target)).collect()
    }

    /// Returns the commands that respond, a line each with its purpose.
    pub(crate) fn commands(&self, target: &Target) -> String {
        let line = |command: &ResponseCommand| {
            let lead = match command {
                ResponseCommand::Approve => "to approve".to_owned(),
                ResponseCommand::Reject => "to reject".to_owned(),
                ResponseCommand::Respond if self.shown().is_empty() => {
                    "to respond, put the values between the braces".to_owned()
                }
                ResponseCommand::Respond => {
                    format!(
                        "to respond, with values of your own{}",
                        text::after("; default ", &self.defaults())
                    )
                }
            };
            format!("{:<11} {}\n", format!("{lead}:"), self.command_line(*command, target))
        };
        self.answering().iter().map(line).collect()
    }

    /// Compares the values of a response with those that the task requires.
    ///
    /// # Errors
    /// When values are missing, or are not among those that the task takes: with all values that the task expects, and an example.
    pub(crate) fn check(
        &self,
        values: &Map,
        command: ResponseCommand,
        target: &Target,
    ) -> Result<(), Failure> {
        let missing: Vec<_> =
            self.required().into_iter().filter(|name| !values.contains_key(*name)).collect();
        let is_closed = match self.schema.and_then(|schema| schema.member("additionalProperties")) {
            Some(Value::Bool(is_open)) => !is_open,
            _ => self.properties().is_some_and(|properties| !properties.is_empty()),
        };
        // The commands that decide add `approved`: first the values that a person forgot are told.
        let is_typed =
            |name: &str| missing.is_empty() || command == ResponseCommand::Respond || name != "approved";
        let other = values.keys().map(|name| &**name);
        let other = other.filter(|name| is_typed(name)).find(|name| self.property(name).is_none());
        let other = other.filter(|_| is_closed).map(|name| {
            let known = self.properties().into_iter().flat_map(Map::keys).map(|name| &**name);
            let near = did_you_mean(name, known).unwrap_or_default();
            format!("`{}` is not one of them{}", text::clean(name), text::after("; ", &near))
        });
        let missing = (!missing.is_empty()).then(|| format!("missing: {}", missing.join(", ")));
        let why = missing.into_iter().chain(other).collect::<Vec<_>>().join("; ");
        if why.is_empty() {
            return Ok(());
        }
        let path = self.run.path(self.task);
        Err(Failure::call(format!(
            "not {}: {path} expects these values ({why}); nothing was recorded\n{}for example: {}",
            command.done(),
            self.values(),
            self.command_line(command, target),
        )))
    }

    /// Returns a line for each value that the task takes, first those that it requires.
    fn values(&self) -> String {
        let required = self.required();
        let optional = self.properties().into_iter().flat_map(Map::keys).map(|name| &**name);
        let optional = optional.filter(|name| !required.contains(name));
        let row = |name: &str, is_required: bool| {
            let schema = self.property(name);
            let description = schema
                .and_then(|schema| schema.member("description"))
                .and_then(Value::as_str)
                .unwrap_or_default();
            let default = schema.and_then(|schema| schema.member("default"));
            let default = default.map(|default| text::short(&default.to_json(), MAX_CHARS).into_owned());
            let optional = match default {
                Some(default) => format!(", default {default}"),
                None if is_required => String::new(),
                None => ", optional".to_owned(),
            };
            let kind = format!("{}{optional}{}", kind(schema), text::after(": ", description));
            [format!("  {}", text::clean(name)), kind]
        };
        let rows = required.iter().map(|name| row(name, true)).chain(optional.map(|name| row(name, false)));
        text::columns(&rows.collect::<Vec<_>>())
    }

    /// Returns a command that responds, with a value of its type for each value that is required.
    fn command_line(&self, command: ResponseCommand, target: &Target) -> String {
        let decides = command != ResponseCommand::Respond && self.property("approved").is_some();
        if !decides {
            return self.command(target, ResponseCommand::Respond, &[&self.example()]);
        }
        let given = |name: &str| {
            let value = example_of(self.property(name));
            format!("{name}={}", value.as_str().map_or_else(|| value.to_json(), ToOwned::to_owned))
        };
        let others = self.required().into_iter().filter(|name| *name != "approved");
        let given: Vec<_> = others.flat_map(|name| ["-p".to_owned(), given(name)]).collect();
        self.command(target, command, &given.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Returns the values of an example: those that are required, and those for which the schema has a value.
    fn shown(&self) -> Vec<&'r str> {
        let mut names = self.required();
        for (name, schema) in self.properties().into_iter().flat_map(Map::iter) {
            let has = |name: &&str| schema.member(name).is_some_and(|value| !value.is_null());
            if !names.contains(&&**name) && ["const", "enum", "examples", "default"].iter().any(has) {
                names.push(name);
            }
        }
        names
    }

    /// Returns the values that stand for those that a response leaves out.
    fn defaults(&self) -> String {
        let of = |name: &str| {
            let default = self.property(name)?.member("default").filter(|default| !default.is_null())?;
            Some(format!("{}={}", text::clean(name), text::clean(&default.to_json())))
        };
        let all: Vec<_> = self.shown().into_iter().filter_map(of).collect();
        text::short(&all.join(", "), MAX_CHARS).into_owned()
    }

    /// Returns a response with a value of its type for each value that it shows.
    fn example(&self) -> String {
        let members = self.shown().into_iter().map(|name| (name.into(), example_of(self.property(name))));
        Value::from(members.collect::<Map>()).to_json()
    }

    fn command(&self, target: &Target, command: ResponseCommand, more: &[&str]) -> String {
        let path = self.run.path(self.task);
        let words: Vec<&str> = [command.name(), &**self.run.id(), path.as_str()]
            .into_iter()
            .chain(more.iter().copied())
            .collect();
        target.command(&words)
    }
}

/// The type of a value in words: `integer, 1 to 5`.
fn kind(schema: Option<&Value>) -> String {
    let member = |name: &str| schema.and_then(|schema| schema.member(name)).filter(|value| !value.is_null());
    if let Some(choices) = member("enum").and_then(Value::as_array) {
        let choices: Vec<_> = choices.iter().map(Value::to_json).collect();
        return format!("one of {}", text::short(&choices.join(", "), MAX_CHARS));
    }
    let kind = match member("type") {
        Some(Value::String(kind)) => kind.to_string(),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
            "any value".to_owned()
        }
    };
    let bounds = |least: &str, most: &str, of: &str| match (member(least), member(most)) {
        (Some(least), Some(most)) => format!(", {} to {}{of}", least.to_json(), most.to_json()),
        (Some(least), None) => format!(", at least {}{of}", least.to_json()),
        (None, Some(most)) => format!(", at most {}{of}", most.to_json()),
        (None, None) => String::new(),
    };
    format!("{kind}{}{}", bounds("minimum", "maximum", ""), bounds("minLength", "maxLength", " characters"))
}

/// A value that may stand in an example.
fn example_of(schema: Option<&Value>) -> Value {
    let member = |name: &str| schema.and_then(|schema| schema.member(name)).filter(|value| !value.is_null());
    let first = |name: &str| member(name).and_then(Value::as_array).and_then(<[Value]>::first);
    let chosen = member("const").or_else(|| first("enum")).or_else(|| first("examples"));
    if let Some(chosen) = chosen.or_else(|| member("default")) {
        return chosen.clone();
    }
    let kind = member("type").and_then(Value::as_str).or_else(|| first("type").and_then(Value::as_str));
    match kind {
        Some("boolean") => true.into(),
        Some("integer" | "number") => {
            member("minimum").or_else(|| member("maximum")).cloned().unwrap_or_else(|| Value::from(1_i64))
        }
        Some("array") => Value::Array(Vec::new().into()),
        Some("object") => Map::new().into(),
        Some("null") => Value::Null,
        Some(_) | None => "text".into(),
    }
}
