//! `[grants.<plugin>]`: what one plugin may touch.

use std::{collections::BTreeMap, path::PathBuf};

use phasm_engine::{
    form::{BOOLEAN, Cursor, Field, Form, Name, Object, Report, Site, TEXT, TEXTS, Table, Words, word},
    problem::codes::shape,
};
use serde_json::json;

use super::{Surroundings, codes};
use crate::sandbox::{DirGrant, Grants};

static GRANT: Table =
    Table::closed("grant", "What one plugin may touch.", &[&DIRS, &ENVIRONMENT, &HTTP], &[]);

static DIRS: Field<Vec<Dir>> =
    Field::optional("dirs", DIRECTORIES, "Directories, and everything below them.").or("[]");
static ENVIRONMENT: Field<BTreeMap<String, String>> =
    Field::optional("env", TEXT_BY_NAME, "The plugin's environment, in full; nothing is inherited.").or("{}");
static HTTP: Field<Vec<Name>> = Field::optional(
    "http",
    TEXTS,
    "Hosts that may be reached. Read and checked, but without effect yet: no executor can use it.",
)
.or("[]");

static DIRECTORY: Table =
    Table::closed("directory", "A directory that a plugin sees.", &[&HOST, &GUEST, &MODE, &CREATE], &[]);

static HOST: Field<Name> =
    Field::required("host", "a directory", TEXT, "The directory, relative to this file.");
static GUEST: Field<Name> = Field::required(
    "guest",
    "the path the plugin sees, such as `/data`",
    GUEST_PATH,
    "The path the plugin sees, such as `/data`.",
);
static MODE: Field<Mode> =
    Field::optional("mode", word(), "Whether it may be read, or written, too.").or("ro");
static CREATE: Field<bool> = Field::optional(
    "create",
    BOOLEAN,
    "Makes the directory before a run; without it a missing one is a warning, and an error for whoever needs it.",
)
.or("false");

/// One plugin's grants as written.
pub(super) struct Grant {
    pub(super) plugin: Name,
    dirs: Vec<Dir>,
    env: BTreeMap<String, String>,
}

struct Dir {
    host: Name,
    guest: Name,
    mode: Mode,
    create: bool,
}

/// What may be done with a directory.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Read,
    ReadWrite,
}

impl Words for Mode {
    const WORDS: &'static [(&'static str, Self)] = &[("ro", Self::Read), ("rw", Self::ReadWrite)];
}

/// The grants of each plugin, by its name.
pub(super) const GRANTS: Form<Vec<Grant>> = Form::new(
    |cursor, report| {
        let members = cursor.each_member(report)?;
        let grant = |(key, cursor): (&phasm_engine::tree::Key, Cursor<'_>)| {
            let site = Site { path: cursor.path.clone(), span: key.span };
            let object = cursor.object(&GRANT, report)?;
            Some(Grant::read(Name { value: key.name.clone(), site }, &object))
        };
        Some(members.filter_map(grant).collect())
    },
    |defs| json!({ "type": "object", "additionalProperties": defs.object(&GRANT) }),
);

const DIRECTORIES: Form<Vec<Dir>> = Form::new(
    |cursor, report| Some(cursor.items(report)?.filter_map(|item| Dir::read(&item, report)).collect()),
    |defs| json!({ "type": "array", "items": defs.object(&DIRECTORY) }),
);

const TEXT_BY_NAME: Form<BTreeMap<String, String>> = Form::new(
    |cursor, report| {
        let members = cursor.each_member(report)?;
        let text = |(key, value): (&phasm_engine::tree::Key, Cursor<'_>)| {
            Some((key.name.to_string(), value.text(report)?.to_string()))
        };
        Some(members.filter_map(text).collect())
    },
    |_| json!({ "type": "object", "additionalProperties": { "type": "string" } }),
);

const GUEST_PATH: Form<Name> = Form::new(
    |cursor, report| {
        let found = TEXT.read(cursor, report)?;
        if found.value.is_empty() {
            let message = "empty text; expected the path the plugin sees, such as `/data`";
            report.problem(cursor.problem(&shape::EMPTY, message));
            return None;
        }
        Some(found)
    },
    |_| json!({ "type": "string", "minLength": 1 }),
);

impl Grant {
    fn read(plugin: Name, object: &Object<'_, '_>) -> Self {
        if let Some(hosts) = object.get("http")
            && object.optional(&HTTP).is_some_and(|hosts| !hosts.is_empty())
        {
            let message = "no executor can use HTTP yet; expected an empty list";
            object.report.warning(hosts.problem(&codes::NOT_YET, message));
        }
        let dirs: Vec<Dir> = object.or_default(&DIRS);
        check_once(&dirs, object.report);
        Self { plugin, dirs, env: object.or_default(&ENVIRONMENT) }
    }

    /// What is granted, and what of it is to be created first.
    pub(super) fn granted(self, around: &Surroundings<'_>, report: &Report) -> (Grants, Vec<PathBuf>) {
        let mut create = Vec::new();
        let mut dirs = Vec::new();
        for dir in self.dirs {
            let path = around.dir.join(&*dir.host.value);
            if dir.create {
                create.push(path.clone());
            } else if !path.is_dir() {
                let message = format!("{} is no directory; expected one that exists", path.display());
                let warning = dir.host.problem(&codes::NO_DIRECTORY, message);
                report.warning(warning.with_hint("`create = true` has it created before a run"));
            }
            let (guest, read_only) = (dir.guest.value.to_string(), dir.mode == Mode::Read);
            dirs.push(DirGrant { host: path, guest, read_only });
        }
        (Grants { dirs, env: self.env }, create)
    }
}

impl Dir {
    fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let object = cursor.object(&DIRECTORY, report)?;
        let (host, guest) = (object.optional(&HOST), object.optional(&GUEST));
        let (mode, create) = (object.or_default(&MODE), object.or_default(&CREATE));
        Some(Self { host: host?, guest: guest?, mode, create })
    }
}

/// Reports every path that would stand for two directories.
fn check_once(dirs: &[Dir], report: &Report) {
    for (at, dir) in dirs.iter().enumerate() {
        let guest = &dir.guest;
        if dirs.iter().take(at).any(|before| before.guest.value == guest.value) {
            let message =
                format!("`{}` stands for another directory already; expected each path once", guest.value);
            report.problem(guest.problem(&codes::TAKEN_PATH, message));
        }
    }
}
