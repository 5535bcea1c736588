//! The phase changes that hooks are named after.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The events hooks are named after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HookType {
    /// First Running.
    OnStart,
    /// Succeeded.
    OnSuccess,
    /// Failed.
    OnFailure,
    /// Error, and Timeout when there is no onTimeout.
    OnError,
    /// Timeout.
    OnTimeout,
    /// Suspended.
    OnSuspend,
    /// Resumed.
    OnResume,
    /// Cancelled.
    OnCancel,
    /// Any end.
    OnExit,
}

impl HookType {
    /// The field of the document (`onExit`).
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OnStart => "onStart",
            Self::OnSuccess => "onSuccess",
            Self::OnFailure => "onFailure",
            Self::OnError => "onError",
            Self::OnTimeout => "onTimeout",
            Self::OnSuspend => "onSuspend",
            Self::OnResume => "onResume",
            Self::OnCancel => "onCancel",
            Self::OnExit => "onExit",
        }
    }
}
