//! A folder with everything a host needs for one case.

use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
    path::Path,
    process::Command,
};

use tempfile::TempDir;

use super::case::{Around, Case, Setup};

/// Sets the stage: `guest.wasm`, `innocent.wasm`, `case.json`, and the files that lie there for the guest.
///
/// # Errors
/// The guest's text is malformed.
pub(crate) fn set(case: &Case, port: u16) -> Result<TempDir, String> {
    let stage = tempfile::tempdir().unwrap();
    let at = stage.path();
    fs::write(at.join("guest.wasm"), guest(case, port).map_err(|error| error.to_string())?).unwrap();
    fs::write(at.join("innocent.wasm"), innocent()).unwrap();
    fs::write(at.join("case.json"), serde_json::to_string(&case.told(port)).unwrap()).unwrap();
    lay_out(&case.setup, at);
    Ok(stage)
}

/// Returns the component of every innocent call.
pub(crate) fn innocent() -> Vec<u8> {
    component(include_str!("../../hostile/innocent.wat"), Around::World).unwrap()
}

fn guest(case: &Case, port: u16) -> Result<Vec<u8>, wat::Error> {
    let text = case.guest.replace("PORT", &port.to_string());
    let text = case.repeat.iter().fold(text, |text, (name, repeat)| {
        let copies: String = (0..repeat.times).map(|n| repeat.text.replace('#', &n.to_string())).collect();
        text.replace(&format!(";; {name}\n"), &copies)
    });
    component(&text, case.world)
}

/// The component as it is, or the world around a core module.
fn component(text: &str, world: Around) -> Result<Vec<u8>, wat::Error> {
    let is_whole = text.contains("(component") || text.contains("(module binary");
    let whole = if is_whole { text.to_owned() } else { world.text().replace(";; GUEST", text) };
    wat::parse_str(whole.replace(";; TYPES\n", types()))
}

/// The types of the world, for guests that are whole components.
fn types() -> &'static str {
    let (_, rest) = Around::World.text().split_once("(component\n").unwrap();
    rest.split_once("  ;; That far").unwrap().0
}

fn lay_out(setup: &Setup, at: &Path) {
    let place = |name: &str| {
        let path = at.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    setup.files.iter().for_each(|(name, text)| fs::write(place(name), text).unwrap());
    setup.links.iter().for_each(|(name, target)| symlink(target, place(name)).unwrap());
    for name in &setup.fifos {
        assert!(Command::new("mkfifo").arg(place(name)).status().unwrap().success());
    }
    setup.sockets.iter().for_each(|name| drop(UnixListener::bind(place(name)).unwrap()));
    for (name, count) in &setup.dirs {
        let dir = place(name);
        fs::create_dir_all(&dir).unwrap();
        (0..*count).for_each(|n| drop(fs::File::create(dir.join(format!("{n:064}"))).unwrap()));
    }
}
