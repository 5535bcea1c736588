//! R-I45: where the builder has a guest's stack, data and heap lie: within what a slot of the pool keeps from call to call.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use wasmparser::{Operator, Parser, Payload};

const KIB: u64 = 1 << 10;
/// `KEEP_RESIDENT` of the sandbox's pool.
const KEPT: u64 = 512 * KIB;
/// The static data of std, and some more.
const DATA: u64 = 64 * KIB;
/// Shipped executors with tables that others made, as Unicode's: they begin with more than is kept.
const WITH_TABLES: [&str; 7] = ["archive", "email", "html", "markdown", "postgres", "regex", "validate"];
/// With which memory those begin at most.
const WITH_TABLES_BYTES: u64 = 1024 * KIB;
const GUEST: &str =
    "#[unsafe(no_mangle)]\npub extern \"C\" fn run() -> usize {\n    std::env::args().count()\n}\n";

/// How a guest begins, in bytes.
#[derive(Debug)]
struct Layout {
    stack: u64,
    memory: u64,
}

impl Layout {
    /// Reads a component's first module, which is the guest's. Its stack ends where its first global points to, rustc's
    /// `__stack_pointer`.
    fn of(component: &Path) -> Self {
        let (mut stack, mut memory) = (None, None);
        for payload in Parser::new(0).parse_all(&fs::read(component).unwrap()) {
            let payload = payload.unwrap();
            if let (Payload::MemorySection(memories), None) = (&payload, memory) {
                memory = memories.clone().into_iter().next().map(|first| first.unwrap().initial * 64 * KIB);
            } else if let (Payload::GlobalSection(globals), None) = (&payload, stack) {
                let first = globals.clone().into_iter().next().unwrap().unwrap();
                let Operator::I32Const { value } = first.init_expr.get_operators_reader().read().unwrap()
                else {
                    panic!("the first global of {} is no stack pointer", component.display())
                };
                stack = Some(u64::from(value.cast_unsigned()));
            }
        }
        Self { stack: stack.unwrap(), memory: memory.unwrap() }
    }
}

fn built(folder: &Path) -> Layout {
    let artefact = phasm_builder::bring_up_to_date(&[folder], &|_: &str| {}).remove(0);
    Layout::of(&artefact.unwrap_or_else(|error| panic!("{}: {error}", folder.display())).wasm)
}

/// A guest of one file, with these files beside it.
fn guest(beside: &[(&str, &str)]) -> (tempfile::TempDir, Layout) {
    let dir = tempfile::tempdir().unwrap();
    let manifest =
        "[package]\nname = \"guest\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n[workspace]\n";
    for (name, text) in [("Cargo.toml", manifest), ("src/lib.rs", GUEST)].iter().chain(beside) {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let layout = built(dir.path());
    (dir, layout)
}

#[test]
fn what_a_guest_begins_with_is_kept() {
    let (_dir, layout) = guest(&[]);
    assert_eq!(layout.stack, 256 * KIB);
    assert!((384 * KIB..=384 * KIB + DATA).contains(&layout.memory), "{layout:?}");
}

/// And what shipped ones begin with is kept as well, but for the one that recurses over people's programs, and those with tables.
#[test]
fn what_the_shipped_ones_begin_with_is_kept() {
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins");
    let folders = fs::read_dir(plugins).unwrap().map(|entry| entry.unwrap().path());
    let folders: Vec<PathBuf> = folders.filter(|folder| folder.join("Cargo.toml").is_file()).collect();
    assert!(folders.len() >= 8, "{folders:?}");
    for folder in folders {
        let layout = built(&folder);
        if folder.ends_with("jq") {
            assert_eq!(layout.stack, 1024 * KIB);
        } else if WITH_TABLES.iter().any(|name| folder.ends_with(name)) {
            assert!(layout.memory <= WITH_TABLES_BYTES, "{}: {layout:?}", folder.display());
        } else {
            assert!(layout.memory <= KEPT, "{}: {layout:?}", folder.display());
        }
    }
}

#[test]
fn who_says_otherwise_has_it() {
    let script = "fn main() { println!(\"cargo::rustc-link-arg-cdylib=-zstack-size=1048576\"); }\n";
    let (_dir, layout) = guest(&[("build.rs", script)]);
    assert_eq!(layout.stack, 1024 * KIB);
    assert!(layout.memory >= 1152 * KIB, "its heap is as ever: {layout:?}");

    let settings = "[target.wasm32-wasip2]\nrustflags = [\"-Clink-arg=-zstack-size=524288\"]\n";
    let (_dir, layout) = guest(&[(".cargo/config.toml", settings)]);
    assert_eq!(layout.stack, 512 * KIB);
    assert!(layout.memory <= 512 * KIB + DATA, "who has flags for the target has these only: {layout:?}");

    // Flags for every target are joined to ours, not replaced by them.
    let source = format!("#[cfg(not(theirs))]\ncompile_error!(\"their flags\");\n{GUEST}");
    for written in ["[\"--cfg\", \"theirs\"]", "\"--cfg theirs\""] {
        let settings = format!("[build]\nrustflags = {written}\n");
        let (_dir, layout) = guest(&[(".cargo/config.toml", &settings), ("src/lib.rs", &source)]);
        assert_eq!(layout.stack, 256 * KIB, "{written}");
    }
}
