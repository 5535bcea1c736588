//! The scenarios through hosts: with nothing that befalls them, and with everything.

use std::path::{Path, PathBuf};

use phasm_tests::scenario::{Staged, expected_trace};

use super::{
    compare,
    house::{House, Trouble},
    stage::Play,
};

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push(path);
        }
    }
}

/// Whether an attempt is bounded by itself, and so begins anew with all its time where its host dies.
fn bounds_attempts(staged: &Staged) -> bool {
    let text = staged.document.to_string();
    ["maxRuntime", "maxInactivity"].iter().any(|name| text.contains(name))
}

fn play(file: &Path, seed: u64, trouble: Trouble) -> Result<Option<String>, String> {
    // Without slots nothing ends, and jitter follows from the run's id.
    let wanted = |staged: &Staged| staged.slots > 0 && !staged.document.to_string().contains("jitter");
    let Some(staged) = Staged::read(file)?.filter(wanted) else { return Ok(None) };
    if trouble == Trouble::Deaths && bounds_attempts(&staged) {
        return Ok(None);
    }
    let (document, parameters, letters) =
        (staged.document.clone(), staged.parameters.clone(), staged.letters.clone());
    let slots = staged.slots;
    House::new(seed, Play::Scenario(staged), slots, trouble).play(&document, &parameters, &letters).map(Some)
}

/// Plays a scenario with each trouble; how many.
fn troubled(seed: u64, file: &Path) -> Result<u32, String> {
    let Some(undisturbed) = play(file, seed, Trouble::None)? else { return Ok(0) };
    let mut played = 0;
    for trouble in [Trouble::Clocks, Trouble::Naps, Trouble::Deaths] {
        if let Some(disturbed) = play(file, seed, trouble)? {
            compare(&undisturbed, &disturbed, trouble)?;
            played += 1;
        }
    }
    Ok(played)
}

#[test]
fn scenarios_come_to_the_same_whatever_befalls_their_hosts() {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios"), &mut found);
    found.sort();
    // Runs that stay open are not waited for.
    let ends = |file: &PathBuf| !expected_trace(&std::fs::read_to_string(file).unwrap()).contains("\nopen: ");
    found.retain(ends);
    let (mut played, mut wrong) = (0, Vec::new());
    for (seed, file) in (0..).zip(&found) {
        match troubled(seed, file) {
            Ok(times) => played += times,
            Err(error) => wrong.push(format!("{}: {error}", file.display())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(played > 500, "{played} were played");
}
