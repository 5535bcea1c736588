//! Test of the packages: each is installed into an empty folder, and runs a workflow from there.

use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use crate::{DistResult, VERSION, commit, files, folder, launcher, run, tarball};

/// From the install command to the result of a workflow.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// An installation in the empty folder `home`, which returns the path of the command.
type Install = fn(out: &Path, home: &Path) -> DistResult<PathBuf>;

/// Installs every package in `out` and runs a workflow with it; prints how long each took.
pub(crate) fn test_all(out: &Path, executors: Option<&Path>) -> DistResult {
    let out = fs::canonicalize(out).map_err(|error| format!("{}: {error}", out.display()))?;
    let executors = executors.map(fs::canonicalize).transpose()?;
    let ways: [(&str, Install); 4] =
        [("tarball", from_tarball), ("wheel", from_wheel), ("debian", from_debian), ("npm", from_npm)];
    for (name, install) in ways {
        let home = env::temp_dir().join(format!("phasm-dist-{}-{name}", std::process::id()));
        folder::make_empty(&home)?;
        let start = Instant::now();
        let done = install(&out, &home).and_then(|command| hello(&command, &home, executors.as_deref()));
        let taken = start.elapsed();
        fs::remove_dir_all(&home)?;
        done.map_err(|error| format!("{name}: {error}"))?;
        if taken > LIMIT {
            return Err(format!("{name}: took {taken:.1?}, expected at most {LIMIT:?}").into());
        }
        writeln!(io::stdout(), "{name}: a result after {taken:.1?}")?;
    }
    Ok(())
}

/// Runs the hello workflow by `command`, with nothing of this process' environment.
fn hello(command: &Path, home: &Path, executors: Option<&Path>) -> DistResult {
    let version = run(Command::new(command).arg("--version"))?;
    if !version.starts_with(&format!("phasm {VERSION}\ncommit: ")) {
        return Err(format!("--version: expected {VERSION} and the commit, found {version:?}").into());
    }
    if version.contains("commit: not recorded") && !commit::variables()?.is_empty() {
        return Err(
            "--version: expected the commit; build with the variables that `phasm-dist commit` prints".into(),
        );
    }
    let workflow = home.join("hello.yaml");
    folder::copy(&files().join("hello.yaml"), &workflow, 0o644)?;
    let mut hello = Command::new(command);
    hello.env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin").current_dir(home);
    if let Some(dir) = executors {
        hello.env("PHASM_EXECUTORS", dir);
    }
    expect_greeting(&run(hello.arg("run").arg(&workflow))?)
}

/// Checks that the output of the hello workflow has its greeting.
pub(crate) fn expect_greeting(output: &str) -> DistResult {
    if output.contains("hello from a package") {
        Ok(())
    } else {
        Err(format!("expected the greeting among the outputs, found {output:?}").into())
    }
}

fn from_tarball(out: &Path, home: &Path) -> DistResult<PathBuf> {
    let file = format!("{}.tar.gz", tarball::name(env::consts::ARCH));
    run(Command::new("sha256sum")
        .args(["--check", "--quiet"])
        .arg(format!("{file}.sha256"))
        .current_dir(out))?;
    run(Command::new("tar").arg("-xzf").arg(out.join(file)).arg("-C").arg(home))?;
    run(Command::new("sh")
        .arg(home.join(tarball::name(env::consts::ARCH)).join("install.sh"))
        .env("HOME", home)
        .env_remove("PREFIX"))?;
    Ok(home.join(".local/bin/phasm"))
}

fn from_wheel(out: &Path, home: &Path) -> DistResult<PathBuf> {
    let venv = home.join("venv");
    run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let mut pip = Command::new(venv.join("bin/pip"));
    run(pip.args(["install", "--quiet", "--no-index"]).arg(only(out, "whl")?))?;
    Ok(venv.join("bin/phasm"))
}

fn from_npm(out: &Path, home: &Path) -> DistResult<PathBuf> {
    let mut npm = Command::new("npm");
    npm.args(["install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]).arg(home);
    npm.env("HOME", home).current_dir(home);
    run(npm.args(files_with(out, "tgz")?))?;
    launcher::test(home)?;
    Ok(home.join("node_modules/.bin/phasm"))
}

/// Unpacks the package without installing it, as that would change the machine, and checks its unit.
fn from_debian(out: &Path, home: &Path) -> DistResult<PathBuf> {
    run(Command::new("dpkg-deb").arg("--extract").arg(only(out, "deb")?).arg(home))?;
    let command = home.join("usr/bin/phasm");
    // The unit names the place of an installed command; here it is elsewhere.
    let unit = fs::read_to_string(home.join("usr/lib/systemd/system/phasm.service"))?;
    let copy = home.join("unit/phasm.service");
    folder::write(&copy, unit.replace("/usr/bin/phasm", &command.display().to_string()).as_bytes(), 0o644)?;
    let verified = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&copy).output()?;
    let said = String::from_utf8_lossy(&verified.stderr);
    // A key that systemd does not know is a warning only, about the unit's file.
    if !verified.status.success() || said.contains("phasm.service") {
        return Err(format!("systemd-analyze verify: {}\n{said}", verified.status).into());
    }
    Ok(command)
}

/// Returns the only file in `out` whose name ends so.
pub(crate) fn only(out: &Path, ending: &str) -> DistResult<PathBuf> {
    match files_with(out, ending)?.as_slice() {
        [one] => Ok(one.clone()),
        found => Err(format!("{}: expected one .{ending} file, found {}", out.display(), found.len()).into()),
    }
}

/// Returns the files in `out` whose names end with a dot and `ending`.
pub(crate) fn files_with(out: &Path, ending: &str) -> DistResult<Vec<PathBuf>> {
    let paths: Vec<_> = fs::read_dir(out)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    Ok(paths
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == ending))
        .collect())
}
