//! `phasm key`: who may ask a server.

mod place;

use clap::{Args, Subcommand, ValueEnum};
use phasm_server::keys::{Key, KeyFile, Role};
use serde_json::json;

pub(super) use self::place::{KeysArgument, file_of};
use crate::{
    exit::Exit,
    failure::Failure,
    problems,
    terminal::{screen::Screen, text},
};

/// Characters of a key's name.
const MAX_NAME_LENGTH: usize = 64;

/// Adds, lists and removes the keys of a server.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    Add(AddKeyArguments),
    List(ListKeysArguments),
    Remove(RemoveKeyArguments),
}

/// Makes a key and prints it. It cannot be shown again: only its digest is kept.
///
/// A server with at least one key asks for one. Added and removed keys apply at once.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm key add ci --role run --namespace builds\n  phasm key add me --role admin"
)]
pub(crate) struct AddKeyArguments {
    /// Name of the key: letters, digits, `-`, `_` and `.`.
    #[arg(value_name = "NAME", value_parser = name)]
    name: String,

    /// Role of the key: `read` shows runs; `approve` also responds to waiting tasks; `run` also submits and cancels runs; `admin` also changes what runs use.
    #[arg(long, value_name = "ROLE", value_enum, default_value = "run")]
    role: RoleArgument,

    /// A namespace it is bound to; may be repeated. Without one it is good for all of them.
    #[arg(long, value_name = "NAMESPACE")]
    namespace: Vec<String>,

    #[command(flatten)]
    keys: KeysArgument,

    /// Print one JSON object to stdout.
    #[arg(long)]
    json: bool,
}

/// Lists the keys of a server. The keys themselves cannot be shown again.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm key list\n  phasm key list --store runs.db --json")]
pub(crate) struct ListKeysArguments {
    #[command(flatten)]
    keys: KeysArgument,

    /// Print one JSON array to stdout.
    #[arg(long)]
    json: bool,
}

/// Removes a key. It is refused from now on; streams that it has open continue.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm key remove ci")]
pub(crate) struct RemoveKeyArguments {
    /// Its name.
    #[arg(value_name = "NAME")]
    name: String,

    #[command(flatten)]
    keys: KeysArgument,
}

/// A role as it is given.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum RoleArgument {
    Read,
    Approve,
    Run,
    Admin,
}

impl From<RoleArgument> for Role {
    fn from(given: RoleArgument) -> Self {
        match given {
            RoleArgument::Read => Self::Read,
            RoleArgument::Approve => Self::Approve,
            RoleArgument::Run => Self::Run,
            RoleArgument::Admin => Self::Admin,
        }
    }
}

fn name(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if (1..=MAX_NAME_LENGTH).contains(&text.len()) && text.chars().all(fits) {
        return Ok(text.to_owned());
    }
    Err(format!("expected 1 to {MAX_NAME_LENGTH} letters, digits, `-`, `_` and `.`"))
}

/// Does one of them.
pub(super) fn key(command: &KeyCommand, screen: &Screen) -> Result<Exit, Failure> {
    match command {
        KeyCommand::Add(arguments) => add(arguments, screen),
        KeyCommand::List(arguments) => list(arguments, screen),
        KeyCommand::Remove(arguments) => remove(arguments, screen),
    }
}

fn add(arguments: &AddKeyArguments, screen: &Screen) -> Result<Exit, Failure> {
    let AddKeyArguments { name, role, namespace, keys, json } = arguments;
    let file = KeyFile::at(keys.file(screen)?);
    let (key, shown) = Key::make(name, (*role).into(), namespace.clone()).map_err(Failure::host)?;
    let is_first = file.all().map_err(Failure::call)?.is_empty();
    file.add(key.clone()).map_err(Failure::call)?;
    let page = if *json {
        let key = json!({ "name": key.name, "role": key.role, "namespaces": key.namespaces, "key": shown });
        problems::json(screen, &key)
    } else {
        format!("{shown}\n")
    };
    // The key has been created, also if stdout is closed.
    let _gone = screen.out(&page);
    if !json {
        screen.err(&format!(
            "the key `{name}`, which is not shown again; its digest is in {}\n",
            text::clean(&file.path().to_string_lossy())
        ));
        if is_first {
            screen.err("from now on a server with this file of keys needs a key for every request: set PHASM_KEY to one\n");
        }
    }
    Ok(Exit::Done)
}

fn list(arguments: &ListKeysArguments, screen: &Screen) -> Result<Exit, Failure> {
    let file = KeyFile::at(arguments.keys.file(screen)?);
    let keys = file.all().map_err(Failure::call)?;
    let page = if arguments.json {
        let shown = |key: &Key| json!({ "name": key.name, "role": key.role, "namespaces": key.namespaces, "created": key.created });
        problems::json(screen, &keys.iter().map(shown).collect::<Vec<_>>())
    } else {
        table(&keys)
    };
    if keys.is_empty() {
        screen.err(&format!(
            "there is no key in {}: a server on loopback accepts every request, and no server with this file listens elsewhere\n",
            text::clean(&file.path().to_string_lossy())
        ));
    }
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}

fn table(keys: &[Key]) -> String {
    let cells = |key: &Key| {
        let bound = if key.namespaces.is_empty() { "all".to_owned() } else { key.namespaces.join(", ") };
        [key.name.clone(), key.role.word().to_owned(), bound, key.created.clone()]
            .map(|cell| text::clean(&cell).into_owned())
    };
    text::table(["NAME", "ROLE", "NAMESPACES", "CREATED"], keys.iter().map(cells))
}

fn remove(arguments: &RemoveKeyArguments, screen: &Screen) -> Result<Exit, Failure> {
    let RemoveKeyArguments { name, keys } = arguments;
    let file = KeyFile::at(keys.file(screen)?);
    if !file.remove(name).map_err(Failure::call)? {
        let all: Vec<_> = file.all().map_err(Failure::call)?.into_iter().map(|key| key.name).collect();
        let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
        return Err(Failure::call(format!("there is no key `{}`; keys: {all}", text::clean(name))));
    }
    let _gone = screen.out(&format!("removed {}\n", text::clean(name)));
    if file.all().map_err(Failure::call)?.is_empty() {
        screen.err("there is no key any more: a server on loopback accepts every request, and no server listens elsewhere\n");
    }
    Ok(Exit::Done)
}
