//! Renders a Jinja template to text or HTML.

use std::collections::BTreeMap;

use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, syntax::SyntaxConfig, value::Value as Any,
};
use phasm_sdk::{inputs::Object, prelude::*};

inputs! {
    /// A template, its variables, and how to render it.
    pub struct Task {
        /// The template.
        template: String,
        /// More variables; an input of the same name wins.
        values: Object<Inputs> = Object::default(),
        /// `html` escapes what `{{ }}` writes, unless it is marked `safe`.
        format: Format = Format::Text,
        /// Effect of a name without a value: `strict` fails, `lenient` writes nothing.
        undefined: MissingValue = MissingValue::Strict,
        /// Lines with nothing but a `{% %}` leave no blank line.
        trim_blocks as "trimBlocks": bool = false,
        ..variables
    }
}

inputs! {
    /// Format of the result.
    #[derive(Clone, Copy)]
    pub enum Format {
        /// Values stand as they are.
        Text = "text",
        /// Values are escaped, unless marked safe.
        Html = "html",
    }
}

inputs! {
    /// Effect of a name without a value.
    #[derive(Clone, Copy)]
    pub enum MissingValue {
        /// A failure.
        Strict = "strict",
        /// Nothing.
        Lenient = "lenient",
    }
}

/// Renders with the fields of `values` and every other input as variables; of equal names the input wins.
///
/// # Errors
///
/// Code 3 for bad inputs and a template that is wrong whatever the values are, code 2 for values that do not fit it.
pub fn template(call: Call<Task>) -> Result {
    let task = call.inputs;
    let values = task.values.0.into_iter().chain(task.variables);
    let values =
        values.map(|(name, json)| Ok((name, json.parse()?))).collect::<Result<BTreeMap<String, Any>>>()?;
    let mut environment = environment(task.format, task.undefined, task.trim_blocks)?;
    let rendered = environment
        .add_template(NAME, &task.template)
        .and_then(|()| environment.get_template(NAME)?.render(values));
    Ok(Outcome::succeeded().output("text", rendered.map_err(|why| problem(&why))?))
}

const NAME: &str = "template";

fn environment(format: Format, undefined: MissingValue, trim_blocks: bool) -> Result<Environment<'static>> {
    let mut environment = Environment::new();
    // Its errors then name what is undefined.
    environment.set_debug(true);
    let mut syntax = SyntaxConfig::builder();
    syntax.keep_trailing_newline(true).trim_blocks(trim_blocks).lstrip_blocks(trim_blocks);
    environment.set_syntax(syntax.build()?);
    environment.set_auto_escape_callback(move |_| match format {
        Format::Text => AutoEscape::None,
        Format::Html => AutoEscape::Html,
    });
    environment.set_undefined_behavior(match undefined {
        MissingValue::Strict => UndefinedBehavior::Strict,
        MissingValue::Lenient => UndefinedBehavior::Chainable,
    });
    Ok(environment)
}

/// Kinds of errors that no values can fix.
const TEMPLATE_ERRORS: [ErrorKind; 6] = [
    ErrorKind::SyntaxError,
    ErrorKind::BadEscape,
    ErrorKind::TemplateNotFound,
    ErrorKind::UnknownFilter,
    ErrorKind::UnknownFunction,
    ErrorKind::UnknownTest,
];

fn problem(why: &Error) -> Outcome {
    let what =
        why.detail().map_or_else(|| why.kind().to_string(), |detail| format!("{}: {detail}", why.kind()));
    let line = why.line().map_or_else(String::new, |line| format!(" in line {line}"));
    let cause = std::error::Error::source(why).map_or_else(String::new, |cause| format!(": {cause}"));
    let message = format!("cannot render the template{line}: {what}{cause}");
    if TEMPLATE_ERRORS.contains(&why.kind()) {
        Outcome::error(message).kind("template").retryable(false)
    } else {
        Outcome::failed(message).kind("render").retryable(false)
    }
}

executor!(template, {
    outputs: {
        /// The result.
        text: String,
    },
    deterministic: true,
    examples: [
        { name: "fills in a name", inputs: { template: "Hello, {{ name }}!", name: "Ada" }, outputs: { text: "Hello, Ada!" } },
    ],
});

#[cfg(test)]
mod tests;
