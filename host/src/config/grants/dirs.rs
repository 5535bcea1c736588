//! `dirs` of a grant: directories that a plugin sees.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use phasm_engine::{
    form::{
        BOOLEAN, Cursor, Field, Form, Name, Object, Report, SIZE, TEXT, TEXTS, Table, Words, whole, word,
    },
    problem::codes::shape,
};
use serde_json::json;

use crate::config::{ConfigSource, codes, paths::stays_below};
use phasm_sandbox::{DirGrant, Grants, Quota};

static DIRECTORY: Table = Table::closed(
    "directory",
    "A directory that a plugin sees.",
    &[&HOST, &GUEST, &MODE, &CREATE, &EXCLUSIVE, &MAX_SIZE, &MAX_FILES],
    &[],
);

static SHARED: Table = Table::closed(
    "shared directory",
    "A directory that several plugins see.",
    &[&HOST, &GUEST, &MODE, &CREATE, &EXCLUSIVE, &MAX_SIZE, &MAX_FILES, &PLUGINS],
    &[],
);

static PLUGINS: Field<Vec<Name>> =
    Field::required("plugins", "the plugins that see it", TEXTS, "The plugins that see it.");

static HOST: Field<Name> =
    Field::required("host", "a directory", TEXT, "The directory, relative to this file.");
static GUEST: Field<Name> = Field::required(
    "guest",
    "the path the plugin sees, such as `/data`",
    GUEST_PATH,
    "The path the plugin sees, such as `/data`.",
);
static MODE: Field<Mode> =
    Field::optional("mode", word(), "Whether it may be read only, or written too.").or("ro");
static CREATE: Field<bool> = Field::optional(
    "create",
    BOOLEAN,
    "Creates the directory before a run. Without it a missing directory is a warning, and an error for attempts that need it.",
)
.or("false");

static EXCLUSIVE: Field<bool> = Field::optional(
    "exclusive",
    BOOLEAN,
    "One attempt at a time uses the directory, of all processes of this machine; others wait. For files that take no locks here, such as a SQLite database.",
)
.or("false");

static MAX_SIZE: Field<u64> = Field::optional(
    "max-size",
    SIZE,
    "Bytes of all files in it, whatever created them: a write beyond that is refused. Without it only the disk is a limit.",
);
static MAX_FILES: Field<u64> = Field::optional(
    "max-files",
    COUNT,
    "Files and directories in it, likewise; at most a million are counted.",
);

const COUNT: Form<u64> = whole::<u64, 1, 1_000_000>();

/// A directory as written.
pub(super) struct Dir {
    host: Name,
    guest: Name,
    mode: Mode,
    create: bool,
    exclusive: bool,
    quota: Quota,
}

/// Access to a directory.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Read,
    ReadWrite,
}

impl Words for Mode {
    const WORDS: &'static [(&'static str, Self)] = &[("ro", Self::Read), ("rw", Self::ReadWrite)];
}

/// A directory for several plugins as written.
pub(in crate::config) struct SharedDir {
    dir: Dir,
    pub(in crate::config) plugins: Vec<Name>,
}

pub(in crate::config) const SHARED_DIRECTORIES: Form<Vec<SharedDir>> = Form::new(
    |cursor, report| Some(cursor.items(report)?.filter_map(|item| SharedDir::read(&item, report)).collect()),
    |defs| json!({ "type": "array", "items": defs.object(&SHARED) }),
);

impl SharedDir {
    fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let object = cursor.object(&SHARED, report)?;
        let plugins = object.optional(&PLUGINS);
        Some(Self { dir: Dir::of(&object)?, plugins: plugins? })
    }

    /// Adds the directory to the grants of its plugins. Returns it if it is created before a run.
    pub(in crate::config) fn grant(
        self,
        grants: &mut BTreeMap<String, Grants>,
        around: &ConfigSource<'_>,
        report: &Report,
    ) -> Vec<PathBuf> {
        let guest = self.dir.guest.clone();
        let (granted, create) = granted(vec![self.dir], around, report);
        for plugin in &self.plugins {
            let own = grants.entry(plugin.value.to_string()).or_default();
            if own.dirs.iter().any(|dir| *dir.guest == *guest.value) {
                let message = format!(
                    "`{}` of plugin `{}` stands for another directory already; expected each path once",
                    guest.value, plugin.value
                );
                report.problem(guest.problem(&codes::TAKEN_PATH, message));
            } else {
                own.dirs.extend(granted.iter().cloned());
            }
        }
        create
    }
}

pub(super) const DIRECTORIES: Form<Vec<Dir>> = Form::new(
    |cursor, report| Some(cursor.items(report)?.filter_map(|item| Dir::read(&item, report)).collect()),
    |defs| json!({ "type": "array", "items": defs.object(&DIRECTORY) }),
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

impl Dir {
    fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        Self::of(&cursor.object(&DIRECTORY, report)?)
    }

    fn of(object: &Object<'_, '_>) -> Option<Self> {
        let (host, guest) = (object.optional(&HOST), object.optional(&GUEST));
        let (mode, create) = (object.or_default(&MODE), object.or_default(&CREATE));
        let exclusive = object.or_default(&EXCLUSIVE);
        let quota = Quota { bytes: object.optional(&MAX_SIZE), files: object.optional(&MAX_FILES) };
        Some(Self { host: host?, guest: guest?, mode, create, exclusive, quota })
    }

    fn grant(self, host: PathBuf) -> DirGrant {
        let read_only = self.mode == Mode::Read;
        DirGrant {
            read_only,
            quota: self.quota,
            exclusive: self.exclusive,
            ..DirGrant::read_only(host, &*self.guest.value)
        }
    }
}

/// Reports every path that would stand for two directories.
pub(super) fn check_once(dirs: &[Dir], report: &Report) {
    for (at, dir) in dirs.iter().enumerate() {
        let guest = &dir.guest;
        if dirs.iter().take(at).any(|before| before.guest.value == guest.value) {
            let message =
                format!("`{}` stands for another directory already; expected each path once", guest.value);
            report.problem(guest.problem(&codes::TAKEN_PATH, message));
        }
    }
}

/// Returns the grant, and the directory if it is created before a run.
pub(super) fn granted(
    dirs: Vec<Dir>,
    around: &ConfigSource<'_>,
    report: &Report,
) -> (Vec<DirGrant>, Vec<PathBuf>) {
    let (mut granted, mut create) = (Vec::new(), Vec::new());
    for dir in dirs {
        if around.is_root && !stays_below(Path::new(&*dir.host.value)) {
            let message =
                format!("`{}` leads out of the tenant's folder; expected a path below it", dir.host.value);
            report.problem(dir.host.problem(&codes::OUTSIDE_ROOT, message));
            continue;
        }
        let path = around.dir.join(&*dir.host.value);
        if dir.create {
            create.push(path.clone());
        } else if !path.is_dir() {
            let message = format!("{} is not a directory; expected one that exists", path.display());
            let warning = dir.host.problem(&codes::NO_DIRECTORY, message);
            report.warning(warning.with_hint("with `create = true` it is created before a run"));
        }
        granted.push(dir.grant(path));
    }
    (granted, create)
}
