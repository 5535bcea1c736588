//! A case as it is written.

use std::{collections::BTreeMap, path::Path};

use phasm_tests::hostile::{self, CaseFile};
use serde::{Deserialize, Serialize};

use super::{TIERS, server::Says};

/// The header of a case, with its file's name, and the guest.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Case {
    #[serde(skip)]
    pub(crate) name: String,
    /// Text of the guest.
    #[serde(skip)]
    pub(crate) guest: String,
    /// Behaviour of the guest, and the required result, each in a sentence.
    pub(crate) does: String,
    pub(crate) comes: String,
    /// Number of copies at once.
    #[serde(default = "one")]
    pub(crate) copies: usize,
    /// Number of inputs: guests take it as an amount.
    #[serde(default)]
    pub(crate) inputs: i64,
    /// After so long an attempt is stopped.
    #[serde(default = "a_minute")]
    pub(crate) deadline_ms: u64,
    /// Wrapper of the guest's core module.
    #[serde(default)]
    pub(crate) world: Around,
    /// Where it is played; in every tier unless it is said.
    #[serde(default = "all_tiers")]
    pub(crate) tiers: Vec<String>,
    #[serde(default)]
    pub(crate) setup: Setup,
    /// Text for a comment `;; NAME` in the guest, and how often it is repeated. `#` in it is the number of the copy.
    #[serde(default)]
    pub(crate) repeat: BTreeMap<String, Repeat>,
    /// Grants, written like those of a configuration; the guest is the plugin `guest`, and directories are relative to the stage.
    #[serde(default)]
    grants: toml::Table,
    #[serde(default)]
    limits: toml::Table,
    #[serde(default)]
    http: toml::Table,
    /// One that is there to be asked: `PORT` is its port, in the guest and in what it is granted.
    pub(crate) server: Option<Says>,
    pub(crate) expect: Expect,
}

fn all_tiers() -> Vec<String> {
    TIERS.iter().map(ToString::to_string).collect()
}

fn one() -> usize {
    1
}

fn a_minute() -> u64 {
    60_000
}

/// Wrapper of a core module.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Around {
    /// Everything there is to import, and memory that is handed out as it should be.
    #[default]
    World,
    /// Nothing but the function that is called.
    Bare,
    /// The imports needed to send requests.
    Http,
}

impl Around {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::World => include_str!("../../hostile/world.wat"),
            Self::Bare => include_str!("../../hostile/bare.wat"),
            Self::Http => include_str!("../../hostile/http.wat"),
        }
    }
}

/// The files on the stage before.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Setup {
    /// Files with their text.
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) fifos: Vec<String>,
    pub(crate) sockets: Vec<String>,
    /// Symbolic links with their targets.
    pub(crate) links: BTreeMap<String, String>,
    /// Directories with so many empty files.
    pub(crate) dirs: BTreeMap<String, usize>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Repeat {
    pub(crate) text: String,
    pub(crate) times: usize,
}

/// The required result of every copy.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Expect {
    /// One of these codes.
    pub(crate) codes: Vec<i32>,
    /// Text that the message holds.
    #[serde(default)]
    pub(crate) message: Vec<String>,
    /// How much the host may grow meanwhile, in MiB.
    pub(crate) grown_mib: Option<u64>,
    /// Paths that are on the stage afterwards, and such as are not.
    #[serde(default)]
    pub(crate) there: Vec<String>,
    #[serde(default)]
    pub(crate) absent: Vec<String>,
    /// How many requests the server got.
    pub(crate) asked: Option<usize>,
    /// Files whose text is as it was.
    #[serde(default)]
    pub(crate) unchanged: Vec<String>,
}

impl Case {
    /// Reads every case of the suite, by name.
    pub(crate) fn all(suite: &Path) -> Vec<Self> {
        hostile::cases(suite).unwrap().into_iter().map(Self::read).collect()
    }

    fn read(CaseFile { name, header, guest }: CaseFile) -> Self {
        let case = toml::from_str(&header).unwrap_or_else(|error| panic!("{name}: {error}"));
        Self { name, guest, ..case }
    }

    /// Returns the instructions for a host; they are the same for every host.
    pub(crate) fn told(&self, port: u16) -> Told {
        let tables = [("grants", &self.grants), ("limits", &self.limits), ("http", &self.http)];
        let configuration: toml::Table =
            tables.into_iter().map(|(name, table)| (name.to_owned(), table.clone().into())).collect();
        Told {
            copies: self.copies,
            inputs: self.inputs,
            deadline_ms: self.deadline_ms,
            configuration: configuration.to_string().replace("PORT", &port.to_string()),
        }
    }
}

/// `case.json` on the stage.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Told {
    pub(crate) copies: usize,
    pub(crate) inputs: i64,
    pub(crate) deadline_ms: u64,
    /// `[grants.guest]`, `[limits]` and `[http]`, as TOML.
    pub(crate) configuration: String,
}

/// The report of a host.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Came {
    /// End of each copy; none for one that did not end.
    pub(crate) outcomes: Vec<Option<Ended>>,
    /// Ends of the innocent calls next to them and after.
    pub(crate) innocents: Vec<Option<Ended>>,
    /// By how many bytes the process grew at most.
    #[serde(default)]
    pub(crate) grown: u64,
}

#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) message: String,
}
