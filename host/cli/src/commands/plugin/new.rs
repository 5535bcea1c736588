//! `phasm plugin new`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use phasm::{engine::plan::is_crate_name, plugins};

use super::{
    scaffold::{absolute, c, go, javascript, python, rust},
    sdk,
};
use crate::{
    command_line,
    exit::Exit,
    failure::{ContextError, Failure},
    paths::folder_of,
    terminal::screen::Screen,
};

/// Starts a new executor in Rust, Python, JavaScript, TypeScript, Go, C or C++, with a test and an example workflow.
///
/// A bare NAME becomes `plugins/NAME` where there is a `plugins/` directory, else `./NAME`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm plugin new greet\n  phasm plugin new greet --lang python\n  phasm plugin new greet --lang ts\n  phasm plugin new greet --lang cpp\n  phasm plugin new ../executors/greet"
)]
pub(crate) struct NewArguments {
    /// The executor's name, or the path of the folder to make.
    #[arg(value_name = "NAME")]
    name: PathBuf,

    /// The language; executors in other languages need no SDK, only the interface in `wit/`.
    #[arg(long, value_name = "LANG", default_value = "rust")]
    lang: Language,

    /// The folder of the SDK, as `plugin sdk` writes it; by default the one of the checkout around the new plugin, or the one
    /// that this program carries: for Rust kept in the user's data directory, for the others copied into the new folder.
    #[arg(long, value_name = "DIR")]
    sdk: Option<PathBuf>,
}

/// Languages that there is an SDK for.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Language {
    /// A crate.
    Rust,
    /// A project with CPython in its component.
    Python,
    /// A project with QuickJS in its component.
    #[value(alias = "javascript")]
    Js,
    /// The same, with types that are checked.
    #[value(alias = "typescript")]
    Ts,
    /// A project with Go's runtime in its component.
    #[value(alias = "golang")]
    Go,
    /// A project that clang builds.
    C,
    /// The same in C++20.
    #[value(alias = "c++")]
    Cpp,
}

/// Writes the files of a new plugin.
pub(super) fn new(arguments: &NewArguments, screen: &Screen) -> Result<Exit, Failure> {
    let folder = folder(&arguments.name);
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    check_name(&name)?;
    if folder.exists() {
        return Err(Failure::call(format!("{} exists already; expected a new folder", folder.display())));
    }
    let (files, test_it) = match arguments.lang {
        Language::Rust => {
            let sdk = find_sdk(arguments, &folder)?;
            let manifest = folder.join("Cargo.toml").display().to_string();
            let test_it = format!("cargo test --manifest-path {}", command_line::word(&manifest));
            (rust::files(&name, &sdk), test_it)
        }
        Language::Python => python::files(&name, &folder, arguments.sdk.as_deref())?,
        Language::Js => javascript::files(&name, &folder, arguments.sdk.as_deref(), false)?,
        Language::Ts => javascript::files(&name, &folder, arguments.sdk.as_deref(), true)?,
        Language::Go => go::files(&name, &folder, arguments.sdk.as_deref())?,
        Language::C => c::files(&name, &folder, arguments.sdk.as_deref(), c::Dialect::C)?,
        Language::Cpp => c::files(&name, &folder, arguments.sdk.as_deref(), c::Dialect::Cpp)?,
    };
    for (path, text) in files {
        write(&folder.join(path), &text)?;
    }
    let example = folder.join("example.yaml").display().to_string();
    let around = folder_of(&folder).display().to_string();
    let try_it = command_line::command(&["run", &example, "--plugins", &around, "-p", "name=Ada"]);
    let created = folder.display();
    let next = format!("created {created}\n\nTry it:\n  {try_it}\n\nRun its tests:\n  {test_it}\n");
    // The plugin is in place, also if stdout is closed.
    let _gone = screen.out(&next);
    Ok(Exit::Done)
}

fn folder(name: &Path) -> PathBuf {
    let bare = name.components().count() == 1 && !name.is_absolute();
    let around = Path::new("plugins");
    if bare && around.is_dir() { around.join(name) } else { name.to_owned() }
}

/// Names that are valid for a cargo package and for the type of an executor.
fn check_name(name: &str) -> Result<(), Failure> {
    if is_crate_name(name) {
        return Ok(());
    }
    let message =
        "expected lower-case letters, digits and hyphens, beginning with a letter, such as `send-mail`";
    Err(Failure::call(format!("`{name}` is not a name for a plugin; {message}")))
}

/// How the new crate finds the SDK.
fn find_sdk(arguments: &NewArguments, folder: &Path) -> Result<PathBuf, Failure> {
    let is_sdk = |dir: &Path| {
        plugins::read_manifest(&dir.join("Cargo.toml"))
            .is_ok_and(|text| text.contains("name = \"phasm-sdk\""))
    };
    let absolute = absolute(folder)?;
    if let Some(asked) = &arguments.sdk {
        if !is_sdk(asked) {
            return Err(Failure::call(format!("{} does not hold the crate phasm-sdk", asked.display())));
        }
        let asked = fs::canonicalize(asked).unwrap_or_else(|_| asked.clone());
        return Ok(asked);
    }
    let above = absolute.ancestors().skip(1).enumerate().map(|(up, dir)| (up, dir.join("plugin-sdk")));
    if let Some((up, _)) = above.into_iter().find(|(_, dir)| is_sdk(dir)) {
        return Ok([PathBuf::from("../".repeat(up + 1)), "plugin-sdk".into()].iter().collect());
    }
    sdk::kept()
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let parent = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent).and_then(|()| fs::write(path, text)).map_err(|error| {
        Failure::call(ContextError::new(format!("{} cannot be written", path.display()), error))
    })
}
