//! Projects in C and C++ are built by the clang of this machine; without one, what is missing is named.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::{
    env, fs,
    io::Write as _,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use phasm_builder::{BuildError, C_SDK, artefact_if_fresh, bring_up_to_date};

/// Tells the copy of this test that runs with other tools which folder to build.
const FOLDER: &str = "PHASM_TEST_C_FOLDER";

const GREET: &str = r#"#include "phasm.h"
#include "words.h"
struct inputs { const char *name; };
static const phasm_field inputs[] = {PHASM_REQUIRED(struct inputs, name, "A name.")};
static void execute(const phasm_call *call, const struct inputs *in, phasm_outcome *out) {
  (void)call;
  phasm_output_string(out, "greeting", phasm_format(WORDS, in->name));
}
PHASM_EXECUTOR(execute, struct inputs, .description = "Greets", PHASM_INPUTS(inputs))
"#;

const GREET_CPP: &str = r#"#include "phasm.hpp"
struct Inputs { std::vector<std::string> names = {"Ada"}; };
static const auto inputs = phasm::Inputs<Inputs>().optional("names", &Inputs::names, "Names.");
static const auto outputs = phasm::Outputs().output<int64_t>("count", "How many.");
static void execute(const phasm::Call &, const Inputs &in, phasm::Outcome &out) { out.output("count", int64_t(in.names.size())); }
PHASM_EXECUTOR(execute, inputs, outputs)
"#;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Whether a test can run; where all have to, it must.
fn is_there(what: &str, path: &Path) -> bool {
    let there = path.exists();
    if !there {
        let said = format!("left out: no {what} at {}\n", path.display());
        assert!(env::var_os("PHASM_TEST_ALL").is_none(), "{said}");
        std::io::stderr().write_all(said.as_bytes()).unwrap();
    }
    there
}

fn has_clang(cpp: bool) -> bool {
    let library = if cpp { "libc++.a" } else { "libc.a" };
    is_there("library of WASI", &Path::new("/usr/lib/wasm32-wasi").join(library))
}

/// A folder with files.
struct Project(tempfile::TempDir);

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = Self(tempfile::Builder::new().prefix("phasm with blank ").tempdir().unwrap());
        files.iter().for_each(|(name, text)| project.write(name, text));
        project
    }

    fn greet() -> Self {
        Self::new(&[
            ("plugin.toml", "name = 'greet'\nversion = '1.2.3'\n[c]\n"),
            ("greet.c", GREET),
            ("words.h", "#define WORDS \"Hello, %s!\"\n"),
            ("test_greet.c", "not C\n"),
        ])
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), text).unwrap();
        // A file that is written in the very moment of a build would be built again.
        let before = std::time::SystemTime::now() - std::time::Duration::from_secs(5);
        fs::File::options().write(true).open(self.at(name)).unwrap().set_modified(before).unwrap();
    }

    fn build(&self) -> Result<Vec<u8>, BuildError> {
        let built = bring_up_to_date(&[self.0.path()], &|_: &str| ()).pop().unwrap()?;
        Ok(fs::read(built.wasm).unwrap())
    }

    fn error(&self) -> String {
        self.build().unwrap_err().to_string()
    }

    /// The error in an environment with a PATH of its own.
    fn error_with(&self, path: &Path, variables: &[(&str, &Path)]) -> String {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "the_copy_with_other_tools", "--nocapture"]).env("PATH", path);
        command.env_remove("WASI_SDK_PATH").env(FOLDER, self.0.path());
        command.envs(variables.iter().copied());
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    }
}

#[test]
fn the_copy_with_other_tools() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let built = bring_up_to_date(&[folder], &|_: &str| ()).pop().unwrap();
    std::io::stderr().write_all(built.unwrap_err().to_string().as_bytes()).unwrap();
}

/// R-L149, R-L150.
#[test]
fn a_project_in_c_is_built_once_and_again_when_a_file_changes() {
    if !has_clang(false) {
        return;
    }
    let project = Project::greet();
    let component = project.build().unwrap();
    let manifest = r#"phasm:manifest{"description":"Greets","inputs":{"additionalProperties":false,"properties":{"name":{"description":"A name.","type":"string"}},"required":["name"],"type":"object"},"name":"greet","version":"1.2.3"}"#;
    let text = String::from_utf8_lossy(&component);
    assert!(component.starts_with(b"\0asm\x0d\0\x01\0\0"));
    assert!(text.contains(manifest), "{:?}", text.get(..400));
    assert!(component.len() < 150_000, "{}", component.len());
    let wasm = project.at("build/greet.wasm");
    assert_eq!(artefact_if_fresh(&project.at("")), Some(wasm.clone()));
    let left = fs::read_dir(project.at("build")).unwrap().count();
    assert_eq!(left, 2);
    project.write("words.h", "#define WORDS \"Good day, %s!\"\n");
    assert_eq!(artefact_if_fresh(&project.at("")), None);
    assert_ne!(project.build().unwrap(), component);
    project.write("README.md", "");
    project.write("test_greet.c", "");
    assert_eq!(artefact_if_fresh(&project.at("")), Some(wasm));
    project.write("more.c", "int more;\n");
    assert_eq!(artefact_if_fresh(&project.at("")), None);
}

/// R-L149: with the library of C++.
#[test]
fn a_project_in_cpp_is_built() {
    if !has_clang(true) {
        return;
    }
    let project = Project::new(&[("plugin.toml", "name = 'count'\n[c]\n"), ("count.cpp", GREET_CPP)]);
    let component = project.build().unwrap();
    let text = String::from_utf8_lossy(&component);
    assert!(text.contains(r#""default":["Ada"]"#) && component.len() < 250_000, "{}", component.len());
    project.write("count.cpp", &GREET_CPP.replace("{ out.", "{ if (in.names.empty()) throw 1; out."));
    assert!(project.error().contains("cannot use 'throw' with exceptions disabled"), "{}", project.error());
}

/// R-L147: a copy in the project is used instead of the SDK that the command carries.
#[test]
fn a_project_in_c_can_bring_its_own_sdk() {
    if !has_clang(false) {
        return;
    }
    let project = Project::greet();
    for (name, text) in C_SDK {
        project.write(&format!("phasm_sdk/{name}"), text);
    }
    project.build().unwrap();
    project.write("phasm_sdk/json.c", "#error own copy\n");
    assert_eq!(artefact_if_fresh(&project.at("")), None);
    assert!(project.error().contains("own copy"));
}

/// R-L150: the errors of all sources, as clang has them.
#[test]
fn errors_of_the_compiler_are_shown_as_they_are() {
    if !has_clang(false) {
        return;
    }
    let project = Project::greet();
    project.write("greet.c", &GREET.replace("in->name", "in->nmae"));
    project.write("other.c", "int other(void) { return more }\n");
    let said = project.error();
    for part in [
        "plugin `greet` in ",
        "greet.c:7:",
        "no member named 'nmae'",
        "other.c:1:",
        "undeclared identifier 'more'",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains(".work-"), "{said}");
    project.write(
        "greet.c",
        &GREET
            .replace("WORDS, in", "more(), in")
            .replace("struct inputs {", "const char *more(void);\nstruct inputs {"),
    );
    fs::remove_file(project.at("other.c")).unwrap();
    let unlinked = project.error();
    assert!(unlinked.contains("undefined symbol: more") && !unlinked.contains(".work-"), "{unlinked}");
    assert_eq!(artefact_if_fresh(&project.at("")), None);
}

/// R-L149.
#[test]
fn declarations_with_errors_fail_the_build() {
    if !has_clang(false) {
        return;
    }
    let project = Project::greet();
    project.write(
        "greet.c",
        &GREET.replace(
            "PHASM_REQUIRED(struct inputs, name, \"A name.\")",
            "PHASM_OPTIONAL(struct inputs, name, \"1\", NULL), {.type = PHASM_STRING}",
        ),
    );
    let said = project.error();
    assert!(
        said.contains("default of `name`: expected a string, got integer `1`; input 1 has no name"),
        "{said}"
    );
    project.write(
        "greet.c",
        "#include \"phasm.h\"\nconst phasm_executor *phasm_this(void) { for (;;) phasm_alloc(1); }\n",
    );
    let endless = project.error();
    assert!(endless.contains("the declarations cannot be read: "), "{endless}");
}

/// R-L148.
#[test]
fn everything_that_is_missing_is_named_with_its_package() {
    let project = Project::greet();
    let nothing = project.error_with(&project.at(""), &[]);
    assert!(
        nothing.starts_with(
            "plugin `greet` cannot be built: building a plugin in C or C++ needs clang on PATH\n"
        ),
        "{nothing}"
    );
    assert!(nothing.contains("`apt install clang lld wasi-libc libclang-rt-dev-wasm32`"), "{nothing}");
    project.write("bin/clang-17", "#!/bin/sh\necho 17.0.6\n");
    fs::set_permissions(project.at("bin/clang-17"), fs::Permissions::from_mode(0o755)).unwrap();
    project.write("more.cpp", "");
    let part = project.error_with(&project.at("bin"), &[("WASI_SYSROOT", &project.at("none"))]);
    let packages = "`apt install lld-17 clang-17 wasi-libc libclang-rt-17-dev-wasm32 libc++-17-dev-wasm32 libc++abi-17-dev-wasm32`";
    for says in [
        "the linker `wasm-ld` on PATH, and clang++-17 on PATH, and a C library for WASI in ",
        "none, which WASI_SYSROOT names",
        "libc++ for wasm32-wasi",
        packages,
        "brew install",
        "WASI_SDK_PATH",
    ] {
        assert!(part.contains(says), "{says}: {part}");
    }
    let sdk = project.error_with(&project.at("bin"), &[("WASI_SDK_PATH", &project.at("sdk"))]);
    assert!(sdk.contains("needs clang in ") && sdk.contains("/sdk\n"), "{sdk}");
}

/// R-L151, R-L152: the SDK's own tests, which need no component.
#[test]
fn the_sdk_passes_its_own_tests() {
    let build = tempfile::tempdir().unwrap();
    let mut make = Command::new("make");
    make.arg(format!("BUILD={}", build.path().display())).current_dir(root().join("plugin-sdk/c/tests"));
    let output = make.output().unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.matches("OK: ").count() == 4, "{said}");
}

/// R-L153. `PHASM_ACCEPT=1` makes them again.
#[test]
fn the_bindings_are_those_of_wit_bindgen() {
    let tool = root().join("target/wit-bindgen/bin/wit-bindgen");
    if !is_there("wit-bindgen", &tool) {
        return;
    }
    let made = tempfile::tempdir().unwrap();
    let mut generate = Command::new(tool);
    generate.args(["c", "--world", "executor", "--out-dir"]).arg(made.path()).arg(root().join("wit"));
    assert!(generate.status().unwrap().success());
    let read = |name: &str| fs::read_to_string(made.path().join(name)).unwrap();
    let object = fs::read(made.path().join("executor_component_type.o")).unwrap();
    let files = [
        ("executor.c", read("executor.c")),
        ("executor.h", read("executor.h")),
        ("executor_component_type.s", assembler(&object)),
    ];
    for (name, text) in files {
        let path = root().join("plugin-sdk/c").join(name);
        if env::var_os("PHASM_ACCEPT").is_some() {
            fs::write(&path, &text).unwrap();
        }
        assert!(
            fs::read_to_string(&path).unwrap() == text,
            "{name} is not what wit-bindgen makes; PHASM_ACCEPT=1 makes it again"
        );
    }
}

/// The object file as text: its one custom section, and the symbol that keeps it.
fn assembler(object: &[u8]) -> String {
    const NAME: &[u8] = b"component-type:executor";
    let at = object.windows(NAME.len()).position(|bytes| bytes == NAME).unwrap();
    let number = |mut at: usize| {
        let (mut number, mut shift) = (0, 0);
        loop {
            number |= usize::from(object[at] & 0x7f) << shift;
            shift += 7;
            at += 1;
            if object[at - 1] < 0x80 {
                return number;
            }
        }
    };
    // A section is its number 0, its size in two bytes, the length of its name, and its name.
    let size = number(at - 3);
    let content = &object[at + NAME.len()..at - 1 + size];
    let lines = content.chunks(24).map(|bytes| {
        let bytes: Vec<_> = bytes.iter().map(ToString::to_string).collect();
        format!("\t.byte\t{}\n", bytes.join(", "))
    });
    let symbol = "__component_type_object_force_link_executor";
    format!(
        "# The world `executor` as a custom section, which tells the linker of components what the functions of executor.c are.\n\
         # Made from executor_component_type.o of wit-bindgen 0.63.0 by `PHASM_ACCEPT=1 cargo test --workspace --test c`.\n\
         \t.functype\t{symbol} () -> ()\n\
         \t.section\t.text.{symbol},\"\",@\n\
         \t.globl\t{symbol}\n\
         \t.type\t{symbol},@function\n\
         {symbol}:\n\
         \t.functype\t{symbol} () -> ()\n\
         \tend_function\n\
         \t.section\t\".custom_section.component-type:executor\",\"\",@\n{}",
        lines.collect::<String>()
    )
}
