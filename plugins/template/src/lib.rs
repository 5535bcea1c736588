//! Renders a Jinja template to text or HTML.

use std::collections::BTreeMap;

use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, syntax::SyntaxConfig, value::Value as Any,
};
use phasm_sdk::{FromInputs, inputs::Nested, prelude::*};

inputs! {
    /// What to render, and how.
    pub struct Task {
        template: String,
        values: Nested<Inputs> = Nested::default(),
        format: Format = Format::Text,
        undefined: Undefined = Undefined::Strict,
        trim_blocks as "trimBlocks": bool = false,
    }
}

inputs! {
    /// What the template makes.
    #[derive(Clone, Copy)]
    pub enum Format {
        /// Values stand as they are.
        Text = "text",
        /// Values are escaped, unless marked safe.
        Html = "html",
    }
}

inputs! {
    /// What a name without a value is.
    #[derive(Clone, Copy)]
    pub enum Undefined {
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
pub fn template(call: Call) -> Result {
    let (own, variables): (Vec<_>, Vec<_>) =
        call.inputs.into_iter().partition(|(name, _)| Task::INPUTS.contains(&name.as_str()));
    let task = Task::from_inputs(own.into_iter().collect(), &call.config)?;
    let values = task.values.0.into_iter().chain(variables);
    let values =
        values.map(|(name, json)| Ok((name, json.parse()?))).collect::<Result<BTreeMap<String, Any>>>()?;
    let mut environment = environment(task.format, task.undefined, task.trim_blocks)?;
    let rendered = environment
        .add_template(NAME, &task.template)
        .and_then(|()| environment.get_template(NAME)?.render(values));
    Ok(Outcome::succeeded().output("text", rendered.map_err(|why| problem(&why))?))
}

const NAME: &str = "template";

fn environment(format: Format, undefined: Undefined, trim_blocks: bool) -> Result<Environment<'static>> {
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
        Undefined::Strict => UndefinedBehavior::Strict,
        Undefined::Lenient => UndefinedBehavior::Chainable,
    });
    Ok(environment)
}

/// Kinds of errors that no values can mend.
const WRONG_TEMPLATE: [ErrorKind; 6] = [
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
    if WRONG_TEMPLATE.contains(&why.kind()) {
        Outcome::error(message).kind("template").retryable(false)
    } else {
        Outcome::failed(message).kind("render").retryable(false)
    }
}

executor!(template);

#[cfg(test)]
mod tests;
