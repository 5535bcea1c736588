//! Fields of forms, made of what a value is said to be: by JSON Schema, or by a parameter's type.

use maud::{Markup, html};
use phasm::{
    Problem, Value,
    engine::{
        plan::{Parameter, ParameterType},
        text,
    },
    store::view,
};

/// The value of a response that decides: true approves, false rejects.
pub(super) const DECISION: &str = "approved";
/// The value of a response that names its caller.
const NAME: &str = "by";

/// One value that is asked for.
pub(super) struct Field {
    pub(super) name: String,
    title: String,
    help: String,
    kind: Input,
    required: bool,
    default: Option<Value>,
}

/// How it is asked for.
enum Input {
    YesNo,
    Choice(Vec<Value>),
    Number { whole: bool },
    Line,
    Lines,
    Json,
}

/// Longest default in a label, in bytes.
const MAX_DEFAULT_BYTES: usize = 40;
/// Longest description of a parameter, in bytes.
const MAX_DESCRIPTION_BYTES: usize = 300;
/// Longer texts have several lines.
const MAX_LINE_LENGTH: f64 = 200.0;

impl Field {
    /// A property of an object's schema.
    pub(super) fn of_schema(name: &str, schema: &Value, required: bool) -> Self {
        let said = |key| schema.member(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |key| schema.member(key).filter(|value| matches!(value, Value::Number(_)));
        let long = number("maxLength").and_then(|most| most.to_json().parse::<f64>().ok());
        let kind = match (schema.member("enum").and_then(Value::as_array), said("type").as_str()) {
            (Some(values), _) => Input::Choice(values.to_vec()),
            (None, "boolean") => Input::YesNo,
            (None, "integer") => Input::Number { whole: true },
            (None, "number") => Input::Number { whole: false },
            (None, "string") if long.is_some_and(|most| most > MAX_LINE_LENGTH) => Input::Lines,
            (None, "string") => Input::Line,
            (None, _) => Input::Json,
        };
        let usual = if name == NAME { "Your name" } else { name };
        let title = Some(said("title")).filter(|title| !title.is_empty()).unwrap_or_else(|| usual.to_owned());
        let default = schema.member("default").cloned();
        let bound = |word, key| number(key).map(|value| format!("{word} {}", value.to_json()));
        let bounds = [bound("at least", "minimum"), bound("at most", "maximum")];
        let description = Some(said("description")).filter(|words| !words.is_empty());
        let help = description.into_iter().chain(bounds.into_iter().flatten()).collect::<Vec<_>>().join(", ");
        Self { name: name.to_owned(), title, help, kind, required, default }
    }

    /// The fields of an object's schema; nothing if it does not say which members there are.
    pub(super) fn all_of(schema: &Value) -> Vec<Self> {
        let required = schema.member("required").and_then(Value::as_array).unwrap_or_default();
        let is_required = |name: &str| required.iter().any(|one| one.as_str() == Some(name));
        let properties = schema.member("properties").and_then(Value::as_object).into_iter().flatten();
        let mut fields: Vec<_> =
            properties.map(|(name, schema)| Self::of_schema(name, schema, is_required(name))).collect();
        fields.sort_by_key(|field| !field.required);
        fields
    }

    /// A parameter of a document.
    pub(super) fn of_parameter(parameter: &Parameter) -> Self {
        let kind = match parameter.kind {
            _ if !parameter.allowed.is_empty() => Input::Choice(parameter.allowed.clone()),
            ParameterType::String => Input::Line,
            ParameterType::Number => Input::Number { whole: false },
            ParameterType::Integer => Input::Number { whole: true },
            ParameterType::Boolean => Input::YesNo,
            ParameterType::Any | ParameterType::Object | ParameterType::Array => Input::Json,
        };
        let written = parameter.value.as_ref().or(parameter.default.as_ref());
        let default = written.and_then(|written| written.as_literal()).cloned();
        let kind_word = parameter.kind.as_str();
        let help = parameter.description.as_ref().map_or_else(
            || kind_word.to_owned(),
            |text| format!("{} ({kind_word})", text::cut(text, MAX_DESCRIPTION_BYTES)),
        );
        let name = parameter.name.to_string();
        Self { title: name.clone(), name, help, kind, required: written.is_none(), default }
    }

    /// Whether its value approves or rejects.
    pub(super) fn is_decision(&self) -> bool {
        self.name == DECISION && matches!(self.kind, Input::YesNo)
    }

    /// Whether its value names the person who responds.
    pub(super) fn is_name(&self) -> bool {
        self.name == NAME && matches!(self.kind, Input::Line | Input::Lines)
    }

    /// The field, with what was `given` before; `prefix` tells it from those of other forms.
    pub(super) fn draw(&self, prefix: &str, given: Option<&str>) -> Markup {
        self.draw_with(prefix, given, None)
    }

    /// The same, and what is wrong with what was given.
    pub(super) fn draw_with(&self, prefix: &str, given: Option<&str>, wrong: Option<&str>) -> Markup {
        let name = format!("{prefix}{}", self.name);
        let default = self.default.as_ref().map(|value| self.written(value));
        let shown = given.map(str::to_owned).or(default).unwrap_or_default();
        let help = format!("{name}-help");
        html! {
            @if let Input::YesNo = self.kind {
                fieldset class="field" {
                    legend { (self.label()) }
                    @for (value, word) in [("true", "yes"), ("false", "no")] {
                        label class="choice" {
                            input type="radio" name=(name) value=(value) required[self.required] checked[shown == value];
                            " " (word)
                        }
                    }
                    p class="help" { (self.help) }
                }
            } @else {
                div class={ "field" @if wrong.is_some() { " wrong" } } {
                    label for=(name) { (self.label()) }
                    (self.control(&name, &shown, &help))
                    p class="help" id=(help) { @if let Some(wrong) = wrong { strong class="bad" { (wrong) } " – " } (self.help) }
                }
            }
        }
    }

    fn label(&self) -> Markup {
        html! {
            (self.title)
            @match &self.default {
                Some(default) if !self.required && !default.is_null() => span class="optional" { " (default " (text::cut(&self.written(default), MAX_DEFAULT_BYTES)) ")" },
                _ if self.required => {}
                _ => span class="optional" { " (optional)" },
            }
        }
    }

    fn control(&self, name: &str, shown: &str, help: &str) -> Markup {
        let required = self.required;
        html! {
            @match &self.kind {
                Input::YesNo => {}
                Input::Choice(values) => select id=(name) name=(name) required[required] aria-describedby=(help) {
                    @if !required || shown.is_empty() { option value="" { "–" } }
                    @for value in values {
                        @let written = value.to_json();
                        option value=(written) selected[shown == written || shown == self.written(value)] { (self.written(value)) }
                    }
                },
                // A number field would send nothing for letters, and the default would be taken for what was typed.
                Input::Number { whole } => input id=(name) name=(name) type="text" value=(shown) autocomplete="off"
                    inputmode=(if *whole { "numeric" } else { "decimal" }) required[required] aria-describedby=(help);,
                Input::Line => input id=(name) name=(name) type="text" value=(shown) required[required] aria-describedby=(help)
                    data-remember[self.is_name()];,
                Input::Lines => textarea id=(name) name=(name) rows="4" required[required] aria-describedby=(help) { "\n" (shown) },
                Input::Json => textarea id=(name) name=(name) rows="3" class="code" spellcheck="false" required[required]
                    aria-describedby=(help) { "\n" (shown) },
            }
        }
    }

    /// A value as it stands in the field.
    fn written(&self, value: &Value) -> String {
        match (value, &self.kind) {
            (Value::Null, _) => String::new(),
            (Value::String(text), Input::Line | Input::Lines | Input::Choice(_)) => text.to_string(),
            (value, _) => value.to_json(),
        }
    }

    /// Returns the given value. `None` if it was left out.
    ///
    /// # Errors
    /// Fails like [`view::undeclared`].
    pub(super) fn read(&self, text: &str) -> Result<Option<Value>, Box<Problem>> {
        match &self.kind {
            Input::Line | Input::Lines if text.is_empty() && !self.required => Ok(None),
            Input::Line | Input::Lines => Ok(Some(text.replace("\r\n", "\n").into())),
            _ if text.trim().is_empty() => Ok(None),
            Input::YesNo | Input::Choice(_) | Input::Number { .. } | Input::Json => {
                view::undeclared(&self.name, text).map(Some)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(schema: &str) -> Field {
        Field::of_schema("f", &Value::from_json(schema).unwrap(), false)
    }

    #[test]
    fn what_is_given_is_of_the_type_that_is_asked_for() {
        for (schema, given, expected) in [
            (r#"{"type":"boolean"}"#, "true", Some("true")),
            (r#"{"type":"boolean"}"#, "", None),
            (r#"{"type":"string"}"#, "12", Some("\"12\"")),
            (r#"{"type":"string"}"#, "", None),
            (r#"{"type":"integer"}"#, "12", Some("12")),
            (r#"{"enum":["1",1]}"#, "\"1\"", Some("\"1\"")),
            (r#"{"enum":["1",1]}"#, "1", Some("1")),
            (r#"{"type":"object"}"#, "{\"a\":[1]}", Some("{\"a\":[1]}")),
        ] {
            let read = field(schema).read(given).unwrap().map(|value| value.to_json());
            assert_eq!(read.as_deref(), expected, "{schema} {given}");
        }
    }

    #[test]
    fn a_schema_of_strangers_is_text() {
        let field =
            field(r#"{"type":"string","title":"<b>","description":"\"><script>","default":"'\"<i>"}"#);
        let drawn = field.draw("answer.", None).into_string();
        assert!(!drawn.contains("<b>") && !drawn.contains("<script>") && !drawn.contains("<i>"), "{drawn}");
        assert!(drawn.contains("&lt;b&gt;"), "{drawn}");
    }

    #[test]
    fn what_must_be_there_comes_first() {
        let schema = r#"{"type":"object","required":["z"],"properties":{"a":{"type":"string"},"z":{"type":"boolean"}}}"#;
        let fields = Field::all_of(&Value::from_json(schema).unwrap());
        assert_eq!(fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>(), ["z", "a"]);
        assert!(Field::all_of(&Value::Null).is_empty());
    }
}
