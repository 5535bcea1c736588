//! `phasm convert`: workflow files of `aether/v1` in `phasm/v1`.

use std::{fs, path::PathBuf};

use clap::Args;
use phasm::{
    engine::{
        document,
        plan::{Draft, Executors},
        value::Value,
    },
    reader,
};

use crate::{
    exit::Exit,
    failure::{ContextError, Failure},
    input::document::Text,
    problems,
    terminal::screen::Screen,
};

/// Rewrites a workflow file of `aether/v1` as one of `phasm/v1` that means the same.
///
/// Comments and layout stay. The result is printed to stdout; what keeps an older spelling is listed on stderr.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm convert old.yaml > new.yaml\n  phasm convert old.yaml --write")]
pub(crate) struct ConvertArguments {
    /// Workflow file, JSON or YAML; `-` is stdin.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Replace the file instead of printing the result.
    #[arg(long)]
    write: bool,
}

/// Converts a file, unless it has problems.
pub(super) fn convert(arguments: &ConvertArguments, screen: &Screen) -> Result<Exit, Failure> {
    let file = Text::read(&arguments.file).map_err(|unreadable| unreadable.refuse(screen, false))?;
    let refuse = |found: &[_]| problems::refuse(screen, file.source(), found, false);
    let tree = reader::read(&file.name, &file.text).map_err(|found| refuse(&found))?;
    Draft::read(&tree).plan(&Executors::any(), &Value::Null).map_err(|found| refuse(&found))?;
    let Some(conversion) = document::convert(&file.text, &tree) else {
        screen.err(&format!("{} is not a file of `aether/v1`, and stays as it is\n", file.name));
        if !arguments.write {
            let _gone = screen.out(&file.text);
        }
        return Ok(Exit::Done);
    };
    if !conversion.repeated.is_empty() {
        let lines = conversion.repeated.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        return Err(Failure::call(format!(
            "{} cannot be converted: aliases repeat values that would change (line {lines}); write these values out, without `&` and `*`",
            file.name
        )));
    }
    for (line, why) in &conversion.kept {
        screen.err(&format!("{}:{line}: kept as it is: {why}\n", file.name));
    }
    if arguments.write && file.dir().is_some() {
        fs::write(&arguments.file, &conversion.text).map_err(|error| {
            let context = format!("{} cannot be written", file.name);
            Failure::call(ContextError::new(context, error))
        })?;
    } else {
        // A closed stdout ends the output.
        let _gone = screen.out(&conversion.text);
    }
    Ok(Exit::Done)
}
