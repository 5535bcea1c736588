//! `phasm init`.

use std::{
    borrow::Cow,
    ffi::OsStr,
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::Args;
use phasm::engine::document;

use super::examples::{self, Example, WORKFLOW, example_parser};
use crate::{
    command_line,
    exit::Exit,
    failure::{ContextError, Failure},
    terminal::{screen::Screen, text},
};

/// Writes a workflow to start from: the file, its schema for editors, a script that checks it, and a .gitignore.
///
/// Existing files are never overwritten. A README.md and a .gitignore of yours are kept: the example's README is then
/// EXAMPLE.md, and the lines for your .gitignore are printed. If another file exists already, nothing is written.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm init hello\n  phasm init\n  phasm init nightly --example nightly-alert\n  \
                        phasm examples"
)]
pub(crate) struct InitArguments {
    /// The folder to write to. It is created if it does not exist.
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,

    /// The example to start from; `phasm examples` lists all.
    #[arg(long, value_name = "NAME", default_value = "hello", value_parser = example_parser(), hide_possible_values = true)]
    example: &'static Example,
}

const SCHEMA: &str = "workflow.schema.json";
const CONFIG: &str = "phasm.toml";
const CHECK: &str = "check.sh";
const IGNORE: &str = ".gitignore";
const README: &str = "README.md";
/// Name of the example's README in a folder that has a README already.
const OTHER_README: &str = "EXAMPLE.md";
const IGNORED: &str = "# Runs, and files that the system keeps next to them\n*.db\n*.db-*\n*.db.*\n# Results\n/out/\n# Secrets\n.env\n*.key\n";

/// Writes the files of an example.
///
/// # Errors
/// When a file exists already or cannot be written.
pub(super) fn init(arguments: &InitArguments, screen: &Screen) -> Result<Exit, Failure> {
    let InitArguments { dir, example } = arguments;
    // Links that lead nowhere exist, too.
    let exists = |path: &str| dir.join(path).symlink_metadata().is_ok();
    let mut files = files(example);
    // Folders of a repository have these two before they have a workflow.
    let keeps_ignored = exists(IGNORE);
    if keeps_ignored {
        files.retain(|(path, _)| *path != IGNORE);
    }
    let readme = if exists(README) { OTHER_README } else { README };
    for (path, _) in &mut files {
        if *path == README {
            *path = readme;
        }
    }
    let existing: Vec<_> = files
        .iter()
        .filter(|(path, _)| exists(path))
        .map(|(path, _)| text::clean(&dir.join(path).display().to_string()).into_owned())
        .collect();
    if !existing.is_empty() {
        return Err(Failure::call(format!(
            "nothing is written, as these files exist: {}; name a new folder, `phasm init DIR`, or move them",
            existing.join(", ")
        )));
    }
    let named = dir.file_name().and_then(OsStr::to_str).filter(|name| *name != example.name);
    if let Some(other) = named.filter(|name| examples::is_example(name)) {
        screen.err(&format!(
            "this is the example {}; for the one called {other}: {}\n",
            example.name,
            command_line::command(&["init", "DIR", "--example", other])
        ));
    }
    for (path, text) in &files {
        let path = dir.join(path);
        write(&path, text).map_err(|error| {
            Failure::call(ContextError::new(format!("{} cannot be written", path.display()), error))
        })?;
    }
    // The files are in place, also if stdout is closed.
    let _gone = screen.out(&next_steps(dir, example, readme, keeps_ignored));
    Ok(Exit::Done)
}

/// Paths within the folder, and the texts of the files.
fn files(example: &Example) -> Vec<(&'static str, Cow<'static, str>)> {
    let mut files: Vec<(_, Cow<'static, str>)> = example
        .files
        .iter()
        .map(|&(path, text)| match path {
            WORKFLOW => (path, format!("# yaml-language-server: $schema={SCHEMA}\n{text}").into()),
            _ => (path, text.into()),
        })
        .collect();
    let config = if example.file(CONFIG).is_empty() { "" } else { " --config phasm.toml" };
    let check = format!(
        "#!/bin/sh\n# Checks the workflow file without running it; ends with 2 if it has an error or a warning.\n\
         cd \"$(dirname \"$0\")\" || exit 2\nexec phasm validate --strict {WORKFLOW}{config}\n"
    );
    files.push((SCHEMA, format!("{:#}\n", document::schema()).into()));
    files.push((CHECK, check.into()));
    files.push((IGNORE, IGNORED.into()));
    files
}

/// Writes a file that does not exist, also if one has appeared meanwhile.
fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if path.ends_with(CHECK) {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o777);
    }
    options.open(path)?.write_all(text.as_bytes())
}

fn next_steps(dir: &Path, example: &Example, readme: &str, keeps_ignored: bool) -> String {
    let shown = text::clean(&dir.display().to_string()).into_owned();
    let at = |file: &str| dir.join(file).display().to_string();
    let mut steps = format!("created the example {} in {shown}\n\n", example.name);
    if keeps_ignored {
        let lines = IGNORED.replace('\n', "\n  ");
        steps += &format!("Your .gitignore is kept. Add these lines to it:\n  {}\n\n", lines.trim_end());
    }
    if example.name == "hello" {
        let try_it = command_line::command(&["run", &at(WORKFLOW)]);
        return format!("{steps}Run it:\n  {try_it}\n");
    }
    let readme = text::clean(&at(readme)).into_owned();
    format!("{steps}Read {readme}: it has the requirements, and the commands to run.\n")
}
