//! Files of the container image, as the last stage of the Containerfile copies them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{DistResult, folder, licence, licences, parts, run};

/// User of the image.
const USER: u32 = 10001;
/// Certificates of the machine, by which the command trusts servers.
const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// Lays out the files of the image in `out`: `root`, and the folders `data` and `cache` that the image's user writes.
pub(crate) fn lay(binary: &Path, out: &Path) -> DistResult {
    folder::make_empty(out)?;
    let binary = &fs::canonicalize(binary).map_err(|error| format!("{}: {error}", binary.display()))?;
    let root = out.join("root");
    let command = root.join("usr/bin/phasm");
    folder::copy(binary, &command, 0o755)?;
    run(Command::new("strip").arg(&command))?;
    for library in libraries(binary)? {
        folder::copy(&library, &root.join(library.strip_prefix("/")?), 0o755)?;
    }
    let executors = root.join("usr/lib/phasm/executors");
    let unpacked = out.join("unpacked");
    for component in executors_of(binary, &unpacked)? {
        let name = component.file_name().ok_or("a component without a name")?;
        folder::copy(&component, &executors.join(name), 0o644)?;
    }
    fs::remove_dir_all(&unpacked)?;
    folder::copy(Path::new(CERTIFICATES), &root.join(&CERTIFICATES[1..]), 0o644)?;
    let user = format!("root:x:0:0:root:/:/nologin\nphasm:x:{USER}:{USER}:Phasm:/var/lib/phasm:/nologin\n");
    folder::write(&root.join("etc/passwd"), user.as_bytes(), 0o644)?;
    folder::write(&root.join("etc/group"), format!("root:x:0:\nphasm:x:{USER}:\n").as_bytes(), 0o644)?;
    folder::write(&root.join("etc/nsswitch.conf"), b"hosts: files dns\n", 0o644)?;
    let about = root.join("usr/share/doc/phasm");
    folder::copy(&licence(), &about.join("LICENSE"), 0o644)?;
    licences::write(&parts::read()?, &about)?;
    fs::create_dir_all(root.join("tmp"))?;
    folder::settle(&root)?;
    folder::set_mode(&root.join("tmp"), 0o1777)?;
    for name in ["data", "cache"] {
        fs::create_dir_all(out.join(name))?;
        folder::set_mode(&out.join(name), 0o700)?;
    }
    Ok(())
}

/// Unpacks the executors that `binary` contains to `cache`, and returns their files.
///
/// The image has them as files of root: volumes for the cache may be folders that others can write, as those of Kubernetes, and
/// executors are not used from there.
fn executors_of(binary: &Path, cache: &Path) -> DistResult<Vec<PathBuf>> {
    run(Command::new(binary)
        .args(["plugin", "list"])
        .env("PHASM_CACHE_DIR", cache)
        .env_remove("PHASM_EXECUTORS")
        .current_dir(cache.parent().ok_or("a cache without a folder around it")?))?;
    let mut found = Vec::new();
    let sets = fs::read_dir(cache.join("executors"));
    for set in
        sets.map_err(|_| format!("{}: expected a command with its executors in it", binary.display()))?
    {
        for component in fs::read_dir(set?.path())? {
            found.push(component?.path());
        }
    }
    Ok(found)
}

/// The libraries that `binary` needs, with the one that loads them, at the places where they are looked for.
fn libraries(binary: &Path) -> DistResult<Vec<PathBuf>> {
    let said = run(Command::new("ldd").arg(binary))?;
    let found: Vec<PathBuf> =
        said.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect();
    if found.is_empty() || said.contains("not found") {
        return Err(
            format!("{}: expected the paths of all libraries, ldd found {said}", binary.display()).into()
        );
    }
    Ok(found)
}
