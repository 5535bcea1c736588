//! The content of a file.

use std::{
    fs::File,
    io::{self, Read},
};

use phasm_sdk::prelude::*;

use crate::{Task, bytes, problem::refused};

pub(crate) fn read(task: &Task, path: &str) -> Result {
    let Task { encoding, max_bytes, .. } = task;
    let bytes = at_most(path, max_bytes.saturating_add(1)).map_err(|why| refused("read", path, &why))?;
    let size = bytes.len();
    if u64::try_from(size).is_ok_and(|size| size > *max_bytes) {
        let message = format!("`{path}` is larger than {max_bytes} bytes; `maxBytes` sets the limit");
        return Err(Outcome::failed(message).kind("too-large").retryable(false));
    }
    let content = bytes::encode(bytes, *encoding, path)?;
    Ok(Outcome::succeeded().output("content", content).output("size", size).output("path", path))
}

fn at_most(path: &str, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}
