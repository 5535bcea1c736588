//! Where plugins are looked for, the same for every command.

use std::path::PathBuf;

use clap::Args;

/// Where plugins are looked for.
#[derive(Args, Clone, Debug)]
pub(super) struct Places {
    /// A directory with plugins, searched before all others.
    #[arg(long, value_name = "DIR")]
    pub(super) plugins: Vec<PathBuf>,

    /// The operator's configuration: plugins, grants, variables, secrets, limits.
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
}
