//! Functions that the commands about the library share.

use std::path::Path;

use phasm::{
    config::Config,
    plugins::trust::PluginTrust,
    plugins::{self, Library, LibraryAdmin, Manifest, MissingGrants, PluginVersion},
};

use crate::{
    command_line,
    drive::configuration,
    failure::Failure,
    paths::PathArguments,
    plugins::{dirs, shipped},
    terminal::{screen::Screen, text},
};

/// The library, and what the operator says about it.
pub(super) struct LibraryContext {
    pub(super) library: Library,
    pub(super) config: Config,
}

impl LibraryContext {
    /// # Errors
    /// When the configuration has problems, or there is no place for a library.
    pub(super) fn open(paths: &PathArguments, screen: &Screen, as_json: bool) -> Result<Self, Failure> {
        let config = paths.config().map(|file| configuration(&file, screen, as_json)).transpose()?;
        let config = config.map(|(_, config)| config);
        let library = dirs::library(paths, config.as_ref())?;
        Ok(Self { library, config: config.unwrap_or_default() })
    }

    /// Returns the administration of the library with the configuration's rules.
    pub(super) fn library_admin(&self) -> LibraryAdmin {
        let Self { library, config } = self;
        LibraryAdmin {
            library: library.clone(),
            tenant: None,
            trusts: trusts(config),
            hold: config.hold_all,
            grants: config.grants.clone(),
        }
    }
}

/// Returns the permissions that a plugin lacks, with the lines that grant them.
pub(super) fn to_grant(to_grant: &MissingGrants) -> String {
    let lacking =
        to_grant.lacking.iter().map(|what| format!("  {}\n", text::clean(what))).collect::<String>();
    let lines: Vec<_> = to_grant.lines.lines().map(text::clean).collect();
    format!(
        "asks for permissions that it is not granted:\n{lacking}to grant all of them, add to the configuration:\n\n{}\n\n",
        lines.join("\n")
    )
}

/// Returns the policies of all tenants, the general one first.
pub(super) fn trusts(config: &Config) -> Vec<PluginTrust> {
    let own = config.tenants.iter().filter(|(_, tenant)| tenant.trust.is_some());
    let tenants = own.map(|tenant| config.trust_of(Some(tenant)));
    [config.trust_of(None)].into_iter().chain(tenants).map(shipped::exempt).collect()
}

/// One that knows all keys, and asks for none.
pub(super) fn all_keys(config: &Config) -> PluginTrust {
    plugins::all_keys(&trusts(config))
}

/// Why a version is held, and how it is approved.
pub(super) fn held(exactly: &str, why: &[String], target: &[&str]) -> String {
    let why: String = why.iter().map(|why| format!("  {}\n", text::clean(why))).collect();
    let approve = command_line::command(&[&["plugin", "approve", exactly], target].concat());
    format!(
        "{}\n{why}approve it with: {approve}\n",
        text::doubtful(format_args!("held {}", text::clean(exactly)))
    )
}

pub(super) fn exactly(stored: &PluginVersion) -> String {
    format!("{}@{}", stored.name, stored.version)
}

/// A component with its manifest in it, and whether that had to be put there.
///
/// # Errors
/// When there is none, or its manifest cannot be read.
pub(super) fn packed(path: &Path) -> Result<(Vec<u8>, bool), Failure> {
    let bytes = plugins::read_component(path).map_err(Failure::call)?;
    let said = Manifest::of(&bytes, Some(path)).map_err(Failure::call)?;
    let within = Manifest::of(&bytes, None).unwrap_or_default();
    if said == within {
        return Ok((bytes, false));
    }
    said.embed(&bytes).map(|bytes| (bytes, true)).map_err(Failure::call)
}
