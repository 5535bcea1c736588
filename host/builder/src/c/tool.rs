//! clang for WebAssembly: that of a wasi-sdk that is named, or the one on PATH with the system's C library.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    environment::command_in,
    process::{query, which},
};

/// Names a folder with a wasi-sdk, whose tools and libraries are used instead of the system's.
const WASI_SDK: &str = "WASI_SDK_PATH";
/// Names the folder with the C library, instead of the places where systems have it.
const SYSROOT: &str = "WASI_SYSROOT";
/// Places of the C library: Debian's, Fedora's, and Homebrew's on its three systems.
const SYSROOTS: [&str; 5] = [
    "/usr",
    "/usr/wasm32-wasi",
    "/opt/homebrew/share/wasi-sysroot",
    "/usr/local/share/wasi-sysroot",
    "/home/linuxbrew/.linuxbrew/share/wasi-sysroot",
];
/// Names of the target, the newer last: both mean WASI 0.1.
const TARGETS: [&str; 2] = ["wasm32-wasi", "wasm32-wasip1"];
/// Versions of LLVM whose tools may have their version in their names, the newest first.
const VERSIONS: std::ops::RangeInclusive<u32> = 14..=30;

/// Why there is no compiler: everything that is missing.
#[derive(Debug, thiserror::Error)]
#[error(
    "building a plugin in C or C++ needs {}\non Debian and Ubuntu: `apt install {}`\non macOS with Homebrew: \
     `brew install llvm lld wasi-libc wasi-runtimes`\nelsewhere: unpack a wasi-sdk, and set {WASI_SDK} to its folder",
    missing.join(", and "),
    packages.join(" ")
)]
pub struct CToolError {
    missing: Vec<String>,
    packages: Vec<String>,
}

/// A compiler with what it needs.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    c: PathBuf,
    cpp: PathBuf,
    /// Arguments of every call.
    common: Vec<String>,
    /// Arguments for sources in C++.
    of_cpp: Vec<String>,
    linking: Vec<String>,
}

impl Tool {
    /// Finds a compiler for C, and for C++ if that is needed.
    ///
    /// # Errors
    /// [`CToolError`].
    pub(crate) fn find(needs_cpp: bool) -> Result<Self, CToolError> {
        let mut lack = Lack::default();
        let sdk = env::var_os(WASI_SDK).filter(|path| !path.is_empty()).map(PathBuf::from);
        let (c, suffix) = match &sdk {
            Some(sdk) => (Some(sdk.join("bin/clang")).filter(|clang| clang.is_file()), String::new()),
            None => find_clang(),
        };
        let Some(c) = c else {
            let place = sdk.map_or_else(|| "on PATH".to_owned(), |sdk| format!("in {}", sdk.display()));
            lack.note(&format!("clang {place}"), "clang");
            lack.packages.extend(usual(needs_cpp));
            return Err(lack.into_error());
        };
        let linker =
            beside(&c, "wasm-ld").or_else(|| which(&format!("wasm-ld{suffix}"))).or_else(|| which("wasm-ld"));
        if linker.is_none() {
            lack.note("the linker `wasm-ld` on PATH", &format!("lld{suffix}"));
        }
        let cpp = beside(&c, &format!("clang++{suffix}")).or_else(|| which(&format!("clang++{suffix}")));
        if needs_cpp && cpp.is_none() {
            lack.note(&format!("clang++{suffix} on PATH"), &format!("clang{suffix}"));
        }
        let found = sysroot(sdk.as_deref());
        if found.is_none() {
            lack.note(&no_library(), "wasi-libc");
        }
        let of_cpp = found.as_ref().and_then(|(sysroot, target)| cpp_arguments(sysroot, target));
        let (sysroot, target) = found.unwrap_or_else(|| (PathBuf::from("/usr"), TARGETS[0]));
        let common = vec![format!("--target={target}"), format!("--sysroot={}", sysroot.display())];
        let version = version(&c);
        if !has_builtins(&c, &common) {
            let package = format!("libclang-rt{suffix}-dev-wasm32");
            lack.note(&format!("clang's own library for {target}"), &package);
        }
        if needs_cpp && of_cpp.is_none() {
            let version = version.unwrap_or_else(|| "14".to_owned());
            lack.note(
                &format!("libc++ for {target}"),
                &format!("libc++-{version}-dev-wasm32 libc++abi-{version}-dev-wasm32"),
            );
        }
        match (linker, lack.missing.is_empty()) {
            (Some(linker), true) => Ok(Self {
                cpp: cpp.unwrap_or_else(|| c.clone()),
                c,
                common,
                of_cpp: of_cpp.unwrap_or_default(),
                linking: vec![format!("--ld-path={}", linker.display())],
            }),
            _ => Err(lack.into_error()),
        }
    }

    /// The program that compiles C, for messages and for the list of what a component was made by.
    pub(super) fn program(&self) -> &Path {
        &self.c
    }

    /// The compiler for sources of one of the languages, working in a folder.
    pub(super) fn compiler(&self, folder: &Path, is_cpp: bool) -> Command {
        let mut command = command_in(folder, if is_cpp { &self.cpp } else { &self.c });
        command.args(&self.common).args(if is_cpp { self.of_cpp.as_slice() } else { &[] });
        command
    }

    /// The compiler as a linker.
    pub(super) fn linker(&self, folder: &Path, has_cpp: bool) -> Command {
        let mut command = command_in(folder, if has_cpp { &self.cpp } else { &self.c });
        command.args(&self.common).args(&self.linking);
        command
    }
}

/// Parts that are missing, with their packages.
#[derive(Default)]
struct Lack {
    missing: Vec<String>,
    packages: Vec<String>,
}

impl Lack {
    fn note(&mut self, what: &str, package: &str) {
        self.missing.push(what.to_owned());
        self.packages.push(package.to_owned());
    }

    fn into_error(self) -> CToolError {
        let Self { missing, mut packages } = self;
        let mut seen = std::collections::BTreeSet::new();
        packages.retain(|package| seen.insert(package.clone()));
        CToolError { missing, packages }
    }
}

/// Debian's packages, where nothing is known of what there is.
fn usual(needs_cpp: bool) -> Vec<String> {
    let mut packages = vec!["lld", "wasi-libc", "libclang-rt-dev-wasm32"];
    if needs_cpp {
        packages.extend(["libc++-14-dev-wasm32", "libc++abi-14-dev-wasm32"]);
    }
    packages.into_iter().map(str::to_owned).collect()
}

fn no_library() -> String {
    env::var_os(SYSROOT).map_or_else(
        || "a C library for WASI".to_owned(),
        |named| format!("a C library for WASI in {}, which {SYSROOT} names", named.display()),
    )
}

/// The compiler, and the version at the end of its name.
fn find_clang() -> (Option<PathBuf>, String) {
    if let Some(clang) = which("clang") {
        return (Some(clang), String::new());
    }
    let versions = VERSIONS.rev().map(|version| format!("-{version}"));
    let mut found = versions.filter_map(|suffix| Some((which(&format!("clang{suffix}"))?, suffix)));
    found.next().map_or((None, String::new()), |(clang, suffix)| (Some(clang), suffix))
}

/// A tool in the folder of the compiler.
fn beside(clang: &Path, name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    let path = clang.with_file_name(file);
    path.is_file().then_some(path)
}

fn version(clang: &Path) -> Option<String> {
    let said = query(Command::new(clang).arg("-dumpversion")).ok()?;
    said.trim().split('.').next().map(str::to_owned)
}

/// The folder with a C library, and the target that it is for.
fn sysroot(sdk: Option<&Path>) -> Option<(PathBuf, &'static str)> {
    let named = env::var_os(SYSROOT).filter(|path| !path.is_empty()).map(PathBuf::from);
    let named = named.or_else(|| sdk.map(|sdk| sdk.join("share/wasi-sysroot")));
    let places = named.map_or_else(|| SYSROOTS.map(PathBuf::from).to_vec(), |named| vec![named]);
    let libraries = places.into_iter().flat_map(|place| TARGETS.map(|target| (place.clone(), target)));
    libraries.into_iter().find(|(place, target)| place.join("lib").join(target).join("libc.a").is_file())
}

fn has_builtins(clang: &Path, common: &[String]) -> bool {
    let mut command = Command::new(clang);
    command.args(common).args(["--rtlib=compiler-rt", "-print-libgcc-file-name"]);
    query(&mut command).is_ok_and(|path| Path::new(path.trim()).is_file())
}

/// Where the headers of libc++ are, if there is one.
fn cpp_arguments(sysroot: &Path, target: &str) -> Option<Vec<String>> {
    let is_there = |library: &str| sysroot.join("lib").join(target).join(library).is_file();
    let headers = sysroot.join("include").join(target).join("c++/v1");
    (is_there("libc++.a") && is_there("libc++abi.a") && headers.is_dir()).then(|| {
        let shared = sysroot.join("include/c++/v1");
        let mut arguments =
            vec!["-nostdinc++".to_owned(), "-isystem".to_owned(), headers.display().to_string()];
        // A system has the headers of its own libc++ there.
        if shared.is_dir() && sysroot != Path::new("/usr") {
            arguments.extend(["-isystem".to_owned(), shared.display().to_string()]);
        }
        arguments
    })
}
