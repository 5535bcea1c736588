//! Puts the examples into the program, and the components of the shipped executors where it is built to carry them.

use std::{
    env,
    error::Error,
    fs,
    hash::{DefaultHasher, Hasher as _},
    path::{Path, PathBuf},
};

/// Names the directory with the components.
const VARIABLE: &str = "PHASM_EXECUTORS";

/// Folder with the examples, next to this crate. Each folder in it that holds [`WORKFLOW`] is an example.
const EXAMPLES: &str = "../examples";
/// File of an example that commands run.
const WORKFLOW: &str = "workflow.yaml";

fn main() -> Result<(), Box<dyn Error>> {
    write_examples()?;
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    if env::var_os("CARGO_FEATURE_EMBED_EXECUTORS").is_none() {
        return Ok(());
    }
    let dir = env::var_os(VARIABLE)
        .ok_or("embed-executors wants PHASM_EXECUTORS: a directory with NAME.wasm files")?;
    // Build scripts run in the directory of their crate; what is relative is so to the checkout, where cargo is called.
    let dir = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../..").join(dir);
    let components = components(&dir)?;
    let (mut hasher, mut entries) = (DefaultHasher::new(), String::new());
    for path in components {
        println!("cargo::rerun-if-changed={}", path.display());
        hasher.write(&fs::read(&path)?);
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        entries += &format!("({name:?}, include_bytes!({:?})),\n", path.display().to_string());
    }
    // Tells one set from another, so that no program takes those of another for its own.
    let carried = format!("(\"{:016x}\", &[\n{entries}])", hasher.finish());
    fs::write(Path::new(&env::var("OUT_DIR")?).join("executors.rs"), carried)?;
    Ok(())
}

/// The components in `dir`, sorted.
fn components(dir: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let entries = fs::read_dir(dir).map_err(|error| format!("{VARIABLE} {}: {error}", dir.display()))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "wasm") {
            found.push(fs::canonicalize(path)?);
        }
    }
    found.sort();
    if found.is_empty() {
        Err(format!("{VARIABLE} {}: no NAME.wasm in it", dir.display()).into())
    } else {
        Ok(found)
    }
}

/// Writes a table of the examples, with the files of each.
fn write_examples() -> Result<(), Box<dyn Error>> {
    let folder = fs::canonicalize(Path::new(&env::var("CARGO_MANIFEST_DIR")?).join(EXAMPLES))?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut table = String::from("&[\n");
    for example in sorted(&folder)?.into_iter().filter(|example| example.join(WORKFLOW).is_file()) {
        let name = example.file_name().unwrap_or_default().to_string_lossy();
        table += &format!("Example {{ name: {name:?}, files: &[\n");
        for file in files(&example)? {
            let within = file.strip_prefix(&example)?.components();
            let within: Vec<_> = within.map(|part| part.as_os_str().to_string_lossy()).collect();
            table += &format!("({:?}, include_str!({:?})),\n", within.join("/"), file.display().to_string());
        }
        table += "] },\n";
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("examples.rs"), table + "]")?;
    Ok(())
}

/// The files in `dir` and below it, sorted.
fn files(dir: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for path in sorted(dir)? {
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

/// The entries of `dir`, sorted, without hidden ones.
fn sorted(dir: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with('.') {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}
