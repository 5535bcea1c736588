//! Faults of the connection, and refusals of the relay.

use std::{error::Error as _, io};

use lettre::transport::smtp::Error;
use phasm_sdk::prelude::*;

/// The library's words for a connection that ended within a response.
const CUT_OFF: &str = "incomplete response";

/// Returns the outcome of an email that was not taken.
pub(crate) fn outcome(error: &Error) -> Outcome {
    let reason = error.source().map_or_else(|| error.to_string(), |source| source.to_string());
    if let Some(status) = error.status() {
        let status = u16::from(status);
        let message = format!("the relay refuses the email: {status} {reason}");
        let outcome = if error.is_transient() {
            Outcome::error(message).kind("busy").retryable(true)
        } else {
            Outcome::failed(message).kind("refused").retryable(false)
        };
        return outcome.error_code(status).detail("smtp", json!({ "code": status, "message": reason }));
    }
    if error.is_response() && reason != CUT_OFF {
        return Outcome::error(format!("the relay's response is not SMTP: {reason}"))
            .kind("protocol")
            .retryable(false);
    }
    if error.is_client() {
        return Outcome::failed(format!("the relay cannot take this email: {reason}"))
            .kind("refused")
            .retryable(false);
    }
    let io = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    let message = format!("no connection to the relay: {reason}");
    if io.is_some_and(|io| io.kind() == io::ErrorKind::PermissionDenied) {
        return Outcome::error(message).kind("grant").retryable(false);
    }
    Outcome::error(message).kind("connection").retryable(true)
}
