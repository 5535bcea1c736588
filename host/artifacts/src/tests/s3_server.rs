//! An S3 server for tests, which checks signatures and keeps objects as files.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

use super::contents::contents;

/// Id of the key that the server takes.
pub(crate) const KEY_ID: &str = "AKIDTEST";
/// The secret access key.
pub(crate) const SECRET: &str = "a/secret+access=key";
/// Name of the server's bucket.
pub(crate) const BUCKET: &str = "files";

/// A running server with one bucket.
pub(crate) struct S3Server {
    child: Child,
    dir: TempDir,
    pub(crate) url: String,
    /// A file with the secret access key.
    pub(crate) key_file: PathBuf,
}

impl S3Server {
    pub(crate) fn start() -> Self {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/s3/bin/s3s-fs");
        assert!(program.exists(), "{} is missing; run .ci/s3-server, which installs it", program.display());
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(BUCKET)).unwrap();
        let key_file = dir.path().join("secret");
        fs::write(&key_file, SECRET).unwrap();
        let mut child = Command::new(program)
            .args(["--host", "127.0.0.1", "--port", "0", "--access-key", KEY_ID, "--secret-key", SECRET])
            .arg(dir.path())
            .env("RUST_LOG", "info")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines.find_map(|line| {
            let line = line.unwrap();
            let address = line.split_once("http://")?.1.split_whitespace().next()?.to_owned();
            Some(format!("http://{}", address.trim_end_matches(|c: char| !c.is_ascii_digit())))
        });
        // The server may write as long as it lives.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, dir, url: url.unwrap(), key_file }
    }

    /// Returns the server's files with content: objects, and parts of uploads. Descriptions of objects are not among them.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut found = contents(self.dir.path());
        found.retain(|path| *path != self.key_file && path.extension().is_none_or(|kind| kind != "json"));
        found
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
