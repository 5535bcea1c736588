//! `-p` and `--params`.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use phasm::{
    engine::{
        plan::Plan,
        problem::Problem,
        tree::TreeNode,
        value::{Map, Value},
    },
    reader,
    store::view,
};

use super::document::{Text, UnreadableFile};
use crate::failure::Failure;

/// One `-p NAME=VALUE`, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParameterArgument {
    name: Arc<str>,
    text: String,
    /// Whether the text is the path of a file: `NAME=@FILE`.
    is_file: bool,
}

/// One `-p NAME=@FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileArgument {
    pub(crate) name: Arc<str>,
    pub(crate) path: PathBuf,
}

/// Reads `NAME=VALUE`.
///
/// # Errors
/// The message that clap shows to the user.
pub(crate) fn given(text: &str) -> Result<ParameterArgument, String> {
    match text.split_once('=') {
        Some((name, text)) if !name.is_empty() => {
            let (is_file, text) = match text.strip_prefix('@') {
                // A text that begins with `@` has another one before it.
                Some(rest) if rest.starts_with('@') => (false, rest),
                Some(path) => (true, path),
                None => (false, text),
            };
            Ok(ParameterArgument { name: name.into(), text: text.to_owned(), is_file })
        }
        Some(_) | None => Err("expected NAME=VALUE, such as `name=Ada`".to_owned()),
    }
}

impl ParameterArgument {
    /// Returns the name of the parameter.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns names and texts, for callers that know the types of the parameters.
    ///
    /// # Errors
    /// Fails for files.
    pub(crate) fn pairs(given: &[Self]) -> Result<Vec<(&str, &str)>, Failure> {
        check_texts(given)?;
        Ok(given.iter().map(|given| (&*given.name, given.text.as_str())).collect())
    }

    /// Returns the arguments that are texts, and those that are files.
    pub(crate) fn split(given: &[Self]) -> (Vec<Self>, Vec<FileArgument>) {
        let (files, texts): (Vec<_>, Vec<_>) = given.iter().cloned().partition(|given| given.is_file);
        let file = |given: Self| FileArgument { name: given.name, path: given.text.into() };
        (texts, files.into_iter().map(file).collect())
    }

    /// The name and the value that the text stands for.
    fn read(&self, plan: Option<&Plan>) -> Result<(Arc<str>, Value), Box<Problem>> {
        let value = match plan {
            Some(plan) => view::parameter(plan, &self.name, &self.text),
            None => view::undeclared(&self.name, &self.text),
        };
        Ok((Arc::clone(&self.name), value?))
    }
}

/// # Errors
/// Fails for files.
fn check_texts(given: &[ParameterArgument]) -> Result<(), Failure> {
    let Some(ParameterArgument { name, text, .. }) = given.iter().find(|given| given.is_file) else {
        return Ok(());
    };
    Err(Failure::call(format!(
        "{name}=@{text}: `run` and `submit` alone store a file for a run; expected a value, or {name}=@@{text} for a text that begins with @"
    )))
}

/// All given values; `-p` wins over the file, a later `-p` over an earlier one.
///
/// # Errors
/// When the file cannot be read, or holds no object, and for all texts that cannot be read.
pub(crate) fn all(given: &[ParameterArgument], file: Option<&Path>, plan: &Plan) -> Result<Map, Failure> {
    let mut values = file.map(from_file).transpose()?.unwrap_or_default();
    values.extend(read(given, Some(plan))?);
    Ok(values)
}

/// Returns `values` with the given ones laid over them. None of them has a declared type.
///
/// # Errors
/// All texts that cannot be read.
pub(crate) fn over(mut values: Map, given: &[ParameterArgument]) -> Result<Map, Failure> {
    values.extend(read(given, None)?);
    Ok(values)
}

/// Values for an executor, whose inputs have that JSON Schema: text where it takes text only.
///
/// # Errors
/// The errors of [`all`].
pub(crate) fn fitting(
    given: &[ParameterArgument],
    file: Option<&Path>,
    schema: &Value,
) -> Result<Map, Failure> {
    let takes_text = |name: &str| {
        let property = schema.member("properties").and_then(|properties| properties.member(name));
        let kind = property.and_then(|property| property.member("type"));
        let kinds =
            kind.map(|kind| kind.as_array().unwrap_or(std::slice::from_ref(kind))).unwrap_or_default();
        let mut words = kinds.iter().filter_map(Value::as_str).filter(|word| *word != "null").peekable();
        words.peek().is_some() && words.all(|word| word == "string")
    };
    check_texts(given)?;
    let (texts, others): (Vec<_>, Vec<_>) = given.iter().cloned().partition(|given| takes_text(&given.name));
    let mut values = file.map(from_file).transpose()?.unwrap_or_default();
    values.extend(texts.into_iter().map(|given| (given.name, given.text.into())));
    values.extend(read(&others, None)?);
    Ok(values)
}

fn read(given: &[ParameterArgument], plan: Option<&Plan>) -> Result<Map, Failure> {
    let (mut values, mut problems) = (Map::new(), Vec::new());
    check_texts(given)?;
    for given in given {
        match given.read(plan) {
            Ok((name, value)) => values.extend([(name, value)]),
            Err(problem) => problems.push(problem.to_string()),
        }
    }
    if problems.is_empty() { Ok(values) } else { Err(Failure::call(problems.join("\n"))) }
}

/// The values in a file.
///
/// # Errors
/// When it cannot be read, or holds no object.
pub(crate) fn from_file(file: &Path) -> Result<Map, Failure> {
    let text = Text::read(file).map_err(|UnreadableFile { name, problem }| {
        Failure::call(format!("{name}: {}", problem.sentence()))
    })?;
    let name = &text.name;
    let tree = reader::read(name, &text.text).map_err(|problems| {
        let first = problems.first();
        let place = first.map(|p| format!("{name}:{}:{}: {}", p.line, p.column, p.sentence()));
        Failure::call(place.unwrap_or_else(|| format!("{name} cannot be read")))
    })?;
    let TreeNode::Object(members) = &tree.node else {
        let found = tree.to_value().type_name();
        return Err(Failure::call(format!("{name}: {found}; expected an object of parameters by name")));
    };
    let mut values = Map::new();
    for (key, value) in members {
        if values.insert(Arc::clone(&key.name), value.to_value()).is_some() {
            let (line, column) = (key.span.line, key.span.column);
            let message =
                format!("{name}:{line}:{column}: `{}` stands here twice; expected it once", key.name);
            return Err(Failure::call(message));
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use phasm::engine::plan::{Draft, Executors};

    use super::*;

    #[test]
    fn a_name_comes_before_the_first_equals_sign() {
        let rows = [
            ("a=1", Some(("a", "1"))),
            ("a=b=c", Some(("a", "b=c"))),
            ("a=", Some(("a", ""))),
            ("a", None),
            ("=1", None),
        ];
        for (text, expected) in rows {
            let found = given(text).ok();
            assert_eq!(found.as_ref().map(|g| (g.name.as_ref(), g.text.as_str())), expected, "{text}");
        }
    }

    #[test]
    fn the_declared_type_decides_what_text_means() {
        let document = "apiVersion: aether/v1\nkind: Workflow\nmetadata: {name: w}\nspec:\n  entrypoint: t\n  arguments:\n    \
                        parameters: [{name: s, type: string}, {name: n, type: integer}, {name: any}]\n  templates:\n  - task: \
                        {name: t, executor: {type: echo}}\n";
        let tree = reader::read("w.yaml", document).unwrap();
        let plan = Draft::read(&tree).plan(&Executors::any(), &Value::Null).unwrap();
        let rows = [
            ("s=5", Value::from("5")),
            ("s=[1]", "[1]".into()),
            ("n=5", 5.into()),
            ("n=five", "five".into()),
            ("any=true", Value::Bool(true)),
            ("any=null", Value::Null),
            ("any={\"a\":1}", Value::from_json("{\"a\":1}").unwrap()),
            ("any=plain text", "plain text".into()),
            ("any=\"quoted\"", "quoted".into()),
            ("undeclared=1", 1.into()),
        ];
        for (text, expected) in rows {
            assert_eq!(given(text).unwrap().read(Some(&plan)).unwrap().1, expected, "{text}");
        }
    }
}
