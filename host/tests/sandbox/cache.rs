//! Compiled code on disk is loaded only when it is exactly what this host wrote; anything else is compiled again and
//! replaced.

use std::{
    fs,
    path::{Path, PathBuf},
};

use phasm::sandbox::SandboxConfig;
use phasm_engine::outcome::code::SUCCEEDED;

use crate::harness::{call, config, invocation, plugins};

fn config_in(dir: &Path) -> SandboxConfig {
    SandboxConfig { cache: Some(dir.to_owned()), ..config() }
}

/// Runs `name` in a new sandbox and returns the files of compiled code it leaves, with their contents.
async fn run(config: SandboxConfig, name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let code = config.cache.clone().unwrap().join("code");
    let plugins = plugins(config, &[name]);
    assert_eq!(call(&plugins, invocation(name)).await.code, SUCCEEDED);
    let mut files: Vec<_> = fs::read_dir(code).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
}

/// The one file that `run` left.
async fn compiled(dir: &Path) -> (PathBuf, Vec<u8>) {
    let mut files = run(config_in(dir), "echo").await;
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

/// Replaces a file, and returns its inode, by which the tests see whether it was replaced again.
fn overwrite(path: &Path, bytes: &[u8]) -> u64 {
    fs::write(path, bytes).unwrap();
    inode(path)
}

fn inode(path: &Path) -> u64 {
    std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap())
}

/// R-I7.
#[tokio::test]
async fn authentic_code_is_loaded_and_not_compiled_again() {
    let dir = tempfile::tempdir().unwrap();
    let (path, _) = compiled(dir.path()).await;
    let before = inode(&path);
    let (again, _) = compiled(dir.path()).await;
    assert_eq!((again, inode(&path)), (path, before));
}

#[tokio::test]
async fn changed_code_is_compiled_again() {
    let dir = tempfile::tempdir().unwrap();
    let (path, good) = compiled(dir.path()).await;
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    let last = good.len() - 1;
    let changes = [
        flipped(0),
        flipped(31),
        flipped(32),
        flipped(last / 2),
        flipped(last),
        good[..last].to_vec(),
        vec![],
        vec![7; 40],
    ];
    for bad in changes {
        let before = overwrite(&path, &bad);
        let (_, now) = compiled(dir.path()).await;
        assert_ne!(inode(&path), before);
        assert!(now != bad && now.len() == good.len());
    }
}

/// R-I7.
#[tokio::test]
async fn valid_code_of_another_component_is_foreign() {
    let dir = tempfile::tempdir().unwrap();
    let (echo, good) = compiled(dir.path()).await;
    let both = run(config_in(dir.path()), "nap").await;
    let (_, nap) = both.into_iter().find(|(path, _)| *path != echo).unwrap();
    let before = overwrite(&echo, &nap);
    run(config_in(dir.path()), "echo").await;
    assert_ne!(inode(&echo), before);
    assert_eq!(fs::read(&echo).unwrap().len(), good.len());
}

/// R-I7.
#[tokio::test]
async fn code_sealed_with_another_key_is_foreign() {
    let dir = tempfile::tempdir().unwrap();
    let (path, good) = compiled(dir.path()).await;
    let key = dir.path().join("key");
    for new_key in [vec![9; 32], vec![9; 31], vec![9; 33], vec![]] {
        fs::write(&key, new_key).unwrap();
        let before = inode(&path);
        let (_, now) = compiled(dir.path()).await;
        assert_ne!(inode(&path), before);
        assert!(now[..32] != good[..32]);
        assert_eq!(fs::read(&key).unwrap().len(), 32);
    }
}

#[tokio::test]
async fn a_key_that_others_could_read_is_replaced() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let (path, _) = compiled(dir.path()).await;
    let key = dir.path().join("key");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(&key), mode(&path), mode(dir.path()), mode(path.parent().unwrap())),
        (0o600, 0o600, 0o700, 0o700)
    );

    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let (old, before) = (fs::read(&key).unwrap(), inode(&path));
    compiled(dir.path()).await;
    assert_ne!((fs::read(&key).unwrap(), inode(&path)), (old, before));
    assert_eq!(mode(&key), 0o600);
}

#[tokio::test]
async fn code_for_other_settings_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let (path, _) = compiled(dir.path()).await;
    let before = inode(&path);
    let mut config = config_in(dir.path());
    // Only wasmtime knows which settings shape its code; the stack limit may or may not be one of them.
    config.limits.stack = 256 << 10;
    let files = run(config, "echo").await;
    assert_eq!(files.len(), 1);
    assert!(files[0].0 != path || inode(&path) == before);
}

#[tokio::test]
async fn without_a_usable_directory_everything_still_runs() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let plugins = plugins(config_in(&file.join("below")), &["echo"]);
    assert_eq!(call(&plugins, invocation("echo")).await.code, SUCCEEDED);
    let warnings = plugins.sandbox().warnings().concat();
    assert!(warnings.contains("no cache of compiled code"), "{warnings}");
}
