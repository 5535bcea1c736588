//! A folder with everything a host needs for one case.

use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
    path::Path,
    process::Command,
};

use tempfile::TempDir;

use super::{
    case::{Case, Setup},
    suite,
};

/// Sets the stage: `guest.wasm`, `innocent.wasm`, `case.json`, and what lies there for the guest.
pub(crate) fn set(case: &Case) -> TempDir {
    let stage = tempfile::tempdir().unwrap();
    let at = stage.path();
    fs::write(at.join("guest.wasm"), guest(case)).unwrap();
    fs::write(at.join("innocent.wasm"), component(include_str!("../../hostile/innocent.wat"))).unwrap();
    fs::write(at.join("case.json"), serde_json::to_string(&case.told()).unwrap()).unwrap();
    lay_out(&case.setup, at);
    stage
}

fn guest(case: &Case) -> Vec<u8> {
    let text = fs::read_to_string(suite().join(&case.name).join("guest.wat")).unwrap();
    let text = case.repeat.iter().fold(text, |text, (name, repeat)| {
        let copies: String = (0..repeat.times).map(|n| repeat.text.replace('#', &n.to_string())).collect();
        text.replace(&format!(";; {name}\n"), &copies)
    });
    component(&text)
}

/// The component as it is, or the world around a core module.
fn component(text: &str) -> Vec<u8> {
    if text.contains("(component") {
        return wat::parse_str(text).unwrap();
    }
    wat::parse_str(include_str!("../../hostile/world.wat").replace(";; GUEST", text)).unwrap()
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
