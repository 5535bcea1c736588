//! Packages for npm: a launcher, and one for each platform that has the command.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{DistResult, VERSION, files, folder, licence, licences, machine, tarball};

/// Platforms with a package: the architecture of Rust, and that of Node.
const PLATFORMS: [(&str, &str); 2] = [("x86_64", "x64"), ("aarch64", "arm64")];

/// Makes the package of this platform in `out`, and returns its path.
pub(crate) fn make_platform(binary: &Path, out: &Path) -> DistResult<PathBuf> {
    let architecture = machine::architecture(binary)?;
    let known = PLATFORMS.iter().find(|(ours, _)| *ours == architecture);
    let (_, cpu) = known.ok_or_else(|| format!("no npm architecture is known for {architecture}"))?;
    let about = json!({
        "name": name(cpu), "version": VERSION,
        "description": format!("The phasm command for Linux on {cpu}, with glibc"),
        "license": "Apache-2.0", "os": ["linux"], "cpu": [cpu], "libc": ["glibc"],
        "files": ["bin", licences::FILE], "preferUnplugged": true,
    });
    make(out, &about, &format!("phasm-linux-{cpu}"), (binary, "bin/phasm"))
}

/// Makes the launcher in `out`, and returns its path. It is the same on every platform.
pub(crate) fn make_launcher(_: &Path, out: &Path) -> DistResult<PathBuf> {
    let platforms: serde_json::Map<String, Value> =
        PLATFORMS.iter().map(|(_, cpu)| (name(cpu), json!(VERSION))).collect();
    let about = json!({
        "name": "phasm", "version": VERSION,
        "description": "Workflow engine whose every step is a sandboxed WebAssembly component",
        "license": "Apache-2.0", "bin": { "phasm": "bin/phasm.js" }, "files": ["bin", licences::FILE],
        "engines": { "node": ">=18" }, "optionalDependencies": platforms,
    });
    make(out, &about, "phasm", (&files().join("phasm.js"), "bin/phasm.js"))
}

/// Name of the package of a platform.
fn name(cpu: &str) -> String {
    format!("@phasm/linux-{cpu}")
}

/// Writes a package with this description and program, and the licences.
fn make(out: &Path, about: &Value, stem: &str, program: (&Path, &str)) -> DistResult<PathBuf> {
    let work = out.join("work/npm").join(stem);
    let dir = work.join("package");
    let (from, to) = program;
    folder::copy(from, &dir.join(to), 0o755)?;
    folder::write(
        &dir.join("package.json"),
        (serde_json::to_string_pretty(about)? + "\n").as_bytes(),
        0o644,
    )?;
    folder::copy(&licence(), &dir.join("LICENSE"), 0o644)?;
    folder::copy(&out.join("work").join(licences::FILE), &dir.join(licences::FILE), 0o644)?;
    folder::copy(&files().join("npm.md"), &dir.join("README.md"), 0o644)?;
    let path = out.join(format!("{stem}-{VERSION}.tgz"));
    tarball::archive(&work, "package", &path)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::{env, fs, process, process::Command};

    use super::*;
    use crate::run;

    /// R-L62: the launcher names the packages of all platforms in its own version, and npm installs each on its platform only;
    /// the same content gives the same packages.
    #[test]
    fn the_launcher_has_a_package_for_each_platform() {
        let out = env::temp_dir().join(format!("phasm-dist-npm-{}", process::id()));
        let packages = || {
            folder::make_empty(&out).unwrap();
            folder::copy(&env::current_exe().unwrap(), &out.join("command"), 0o755).unwrap();
            folder::write(&out.join("work").join(licences::FILE), b"texts", 0o644).unwrap();
            [make_platform(&out.join("command"), &out).unwrap(), make_launcher(&out, &out).unwrap()]
        };
        let read = |package: &Path| fs::read(package).unwrap();
        let about = |package: &Path| -> Value {
            let text =
                run(Command::new("tar").arg("-xOzf").arg(package).arg("package/package.json")).unwrap();
            serde_json::from_str(&text).unwrap()
        };
        let [platform, launcher] = packages();
        let first = [read(&platform), read(&launcher)];
        let (command, starts) = (about(&platform), about(&launcher));
        let listed = starts["optionalDependencies"].as_object().unwrap();
        assert_eq!(listed.len(), PLATFORMS.len());
        assert!(listed.values().all(|version| version == VERSION));
        assert!(listed.contains_key(command["name"].as_str().unwrap()), "{command}");
        assert_eq!(command["libc"], json!(["glibc"]));
        assert_eq!(command["cpu"].as_array().unwrap().len(), 1);
        assert_eq!(starts["bin"]["phasm"], "bin/phasm.js");
        assert!(
            starts.get("scripts").is_none() && command.get("scripts").is_none(),
            "nothing runs at installation"
        );
        let [platform, launcher] = packages();
        assert!(first == [read(&platform), read(&launcher)], "made again, the packages differ");
        fs::remove_dir_all(&out).unwrap();
    }
}
