//! Environment of a guest's cargo, without variables that are meant for the host's own build.
//!
//! `cargo run` and `cargo test` leave their own settings behind for the program they start; meant for the host's build,
//! they would change the guest's. Settings of the user's machine stay: homes, proxies, registries, jobs.

use std::{env, path::Path, process::Command};

/// Settings of the user's machine rather than of one build.
const MACHINE_SETTINGS: [&str; 9] = [
    "CARGO_CREDENTIAL_",
    "CARGO_HOME",
    "CARGO_HTTP_",
    "CARGO_NET_",
    "CARGO_REGISTRY_",
    "CARGO_REGISTRIES_",
    "CARGO_TERM_",
    "CARGO_BUILD_JOBS",
    "CARGO_INSTALL_ROOT",
];
const BUILD_SETTINGS: [&str; 9] = [
    "MAKEFLAGS",
    "MFLAGS",
    "RUSTC",
    "RUSTC_BOOTSTRAP",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTDOC",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
];
/// Files that pin rustup's toolchain for everything below their folder.
pub(super) const TOOLCHAIN_FILES: [&str; 2] = ["rust-toolchain.toml", "rust-toolchain"];

/// A command that works in `folder` as if the user had typed it there.
pub(super) fn command_in(folder: &Path, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    let below_cargo = env::var_os("CARGO").is_some();
    let pinned = pins_toolchain(folder);
    for name in env::vars_os().filter_map(|(name, _)| name.into_string().ok()) {
        if disturbs(&name, below_cargo && pinned) {
            command.env_remove(name);
        }
    }
    command
}

fn pins_toolchain(folder: &Path) -> bool {
    folder.ancestors().any(|dir| TOOLCHAIN_FILES.iter().any(|file| dir.join(file).is_file()))
}

/// `own_toolchain`: the folder pins one, and `RUSTUP_TOOLCHAIN` was set by rustup on behalf of the cargo that started us, not
/// by the user.
fn disturbs(name: &str, own_toolchain: bool) -> bool {
    if name == "RUSTUP_TOOLCHAIN" {
        return own_toolchain;
    }
    let cargos = name == "CARGO" || name.starts_with("CARGO_") || name.starts_with("__CARGO_");
    BUILD_SETTINGS.contains(&name) || cargos && !MACHINE_SETTINGS.iter().any(|setting| matches(name, setting))
}

fn matches(name: &str, setting: &str) -> bool {
    if setting.ends_with('_') { name.starts_with(setting) } else { name == setting }
}

#[cfg(test)]
mod tests {
    use super::disturbs;

    #[test]
    fn settings_of_the_hosts_build_stay_out_and_those_of_the_machine_pass() {
        let out = [
            "CARGO",
            "CARGO_BUILD_RUSTFLAGS",
            "CARGO_BUILD_TARGET",
            "CARGO_BUILD_TARGET_DIR",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_HOMELESS",
            "CARGO_MAKEFLAGS",
            "CARGO_MANIFEST_DIR",
            "CARGO_PKG_NAME",
            "CARGO_PROFILE_RELEASE_LTO",
            "CARGO_TARGET_DIR",
            "CARGO_TARGET_WASM32_WASIP2_LINKER",
            "MAKEFLAGS",
            "RUSTC",
            "RUSTC_BOOTSTRAP",
            "RUSTC_WORKSPACE_WRAPPER",
            "RUSTC_WRAPPER",
            "RUSTFLAGS",
            "__CARGO_DEFAULT_LIB_METADATA",
        ];
        let pass = [
            "CARGOES",
            "CARGO_BUILD_JOBS",
            "CARGO_HOME",
            "CARGO_HTTP_PROXY",
            "CARGO_NET_OFFLINE",
            "CARGO_REGISTRIES_INTERNAL_INDEX",
            "CARGO_REGISTRY_DEFAULT",
            "CARGO_TERM_COLOR",
            "HOME",
            "PATH",
            "RUSTUP_DIST_SERVER",
            "RUSTUP_HOME",
            "https_proxy",
        ];
        let wrong = |name: &&&str, expected| disturbs(name, false) != expected;
        assert_eq!(out.iter().filter(|name| wrong(name, true)).collect::<Vec<_>>(), Vec::<&&str>::new());
        assert_eq!(pass.iter().filter(|name| wrong(name, false)).collect::<Vec<_>>(), Vec::<&&str>::new());
    }

    #[test]
    fn a_pinned_toolchain_wins_over_the_one_that_cargo_handed_down() {
        assert!(disturbs("RUSTUP_TOOLCHAIN", true));
        assert!(!disturbs("RUSTUP_TOOLCHAIN", false));
    }
}
