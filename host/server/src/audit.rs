//! The audit log: one line for each request. Parameters, answers and keys are not in it.

use std::{
    fs::File,
    io::{self, Write as _},
    path::Path,
    sync::{Mutex, PoisonError},
};

use axum::http::{Method, StatusCode};
use phasm::clock::Clock;
use phasm_files::{FileUse, open_own};
use serde_json::json;

use crate::auth::caller::Caller;

/// Target of `tracing` under which entries are found, also if they go to a file.
pub const AUDIT_TARGET: &str = "audit";

/// Where it is written down.
pub(crate) enum Audit {
    Tracing,
    File(Mutex<File>),
}

impl Audit {
    pub(crate) fn to(file: Option<&Path>) -> io::Result<Self> {
        let Some(path) = file else { return Ok(Self::Tracing) };
        let named = |error| io::Error::other(format!("{}: {error}", path.display()));
        Ok(Self::File(Mutex::new(open_own(path, FileUse::Append).map_err(named)?)))
    }

    /// Writes down what changes something, and what was refused to whom.
    pub(crate) fn write(&self, caller: Option<&Caller>, method: &Method, path: &str, status: StatusCode) {
        let is_refused = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if method.is_safe() && !is_refused {
            return;
        }
        let key = caller.map_or("?", Caller::name);
        let role = caller.map(|caller| caller.role.word());
        // The log of the process has every change; a file is written besides.
        tracing::info!(target: AUDIT_TARGET, key, role, %method, path, status = status.as_u16(), "request");
        if let Self::File(file) = self {
            let time = Clock::start().now().to_rfc3339();
            let line = json!({ "time": time, "key": key, "role": role, "method": method.as_str(), "path": path,
                "status": status.as_u16() });
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = file.write_all(format!("{line}\n").as_bytes()) {
                tracing::error!(%error, "the audit log cannot be written");
            }
        }
    }
}
