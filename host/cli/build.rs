//! Puts the examples and the commit into the program, and the components of the shipped executors where it is built to carry them.

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

/// Names the commit that is built: its id, with `-dirty` behind it if files were changed since.
///
/// Releases set it, as `phasm-dist commit` prints it. Git is not asked here: the program would have to be built again after each commit.
const COMMIT: &str = "PHASM_COMMIT";
/// Names the day of that commit, as `2026-01-31`.
const COMMIT_DATE: &str = "PHASM_COMMIT_DATE";

fn main() -> Result<(), Box<dyn Error>> {
    write_examples()?;
    write_commit()?;
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

/// Sets the variables that `--version` is made of.
fn write_commit() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed={COMMIT}");
    println!("cargo::rerun-if-env-changed={COMMIT_DATE}");
    let commit = set(COMMIT).unwrap_or_else(|| format!("not recorded ({COMMIT} was not set in the build)"));
    let date = set(COMMIT_DATE).unwrap_or_else(|| "not recorded".to_owned());
    if set(COMMIT).is_some_and(|commit| !is_commit(&commit)) {
        return Err(format!("{COMMIT} {commit:?}: expected an id of 7 or more hexadecimal digits, `-dirty` behind it or nothing").into());
    }
    if set(COMMIT_DATE).is_some_and(|date| !is_date(&date)) {
        return Err(format!("{COMMIT_DATE} {date:?}: expected a day such as 2026-01-31").into());
    }
    println!("cargo::rustc-env=PHASM_BUILD_COMMIT={commit}");
    println!("cargo::rustc-env=PHASM_BUILD_DATE={date}");
    println!("cargo::rustc-env=PHASM_BUILD_TARGET={}", env::var("TARGET")?);
    Ok(())
}

/// A variable of the environment. An empty one counts as not set.
fn set(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn is_commit(text: &str) -> bool {
    let id = text.strip_suffix("-dirty").unwrap_or(text);
    id.len() >= 7 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_date(text: &str) -> bool {
    let shape = text.bytes().map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
    shape.eq(*b"0000-00-00")
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
