//! Faults: mistakes, lost connections, and errors of the server.

use std::{io, time::Duration};

use fallible_iterator::FallibleIterator as _;
use phasm_sdk::{Map, prelude::*};
use postgres_protocol::message::backend::ErrorFields;

/// SQLSTATE of a statement that the server ended, because of its time or by request.
const QUERY_CANCELED: &str = "57014";

/// The reason why there is no result.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The inputs do not fit.
    Input(String),
    /// There is no connection, or it was lost.
    Connection(io::Error),
    /// The server refuses something.
    Server(Box<ServerError>),
    /// The result is over a limit.
    TooLarge(String),
    /// A value has no exact form in JSON.
    Value(String),
    /// The server does something that this client does not know.
    Protocol(String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::InvalidData {
            Self::Protocol(error.to_string())
        } else {
            Self::Connection(error)
        }
    }
}

impl Fault {
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::Input(message) => Outcome::error(message).kind("input").retryable(false),
            Self::Connection(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let message = format!("no connection to the database: {error}");
                Outcome::error(message).kind("grant").retryable(false)
            }
            Self::Connection(error) => {
                let message = format!("no connection to the database: {error}");
                Outcome::error(message).kind("connection").retryable(true)
            }
            Self::Server(error) => error.outcome(),
            Self::TooLarge(message) => Outcome::failed(message).kind("too_large").retryable(false),
            Self::Value(message) => Outcome::failed(message).kind("value").retryable(false),
            Self::Protocol(message) => {
                let message = format!("the server's messages cannot be read: {message}");
                Outcome::error(message).kind("protocol").retryable(false)
            }
        }
    }
}

/// An error as the server reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerError {
    pub(crate) code: String,
    pub(crate) message: String,
    /// Severity, detail, hint and so on, by the names of `outcome.pg`.
    fields: Vec<(&'static str, String)>,
    /// The limit of time that the statement met, if it did.
    pub(crate) met: Option<Duration>,
}

impl ServerError {
    pub(crate) fn read(mut fields: ErrorFields<'_>) -> io::Result<Self> {
        let mut error = Self::default();
        let mut localized = None;
        while let Some(field) = fields.next()? {
            let value = String::from_utf8_lossy(field.value_bytes()).into_owned();
            let name = match field.type_() {
                b'C' => {
                    error.code = value;
                    continue;
                }
                b'M' => {
                    error.message = value;
                    continue;
                }
                b'S' => {
                    localized = Some(value);
                    continue;
                }
                b'V' => "severity",
                b'D' => "detail",
                b'H' => "hint",
                b'P' => "position",
                b'W' => "where",
                b's' => "schema",
                b't' => "table",
                b'c' => "column",
                b'd' => "dataType",
                b'n' => "constraint",
                _ => continue,
            };
            error.fields.push((name, value));
        }
        // Servers before 9.6 have the localized severity alone.
        if let (None, Some(severity)) = (error.field("severity"), localized) {
            error.fields.push(("severity", severity));
        }
        Ok(error)
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(given, _)| *given == name).map(|(_, value)| value.as_str())
    }

    /// The error in one line.
    pub(crate) fn line(&self) -> String {
        let severity = self.field("severity").unwrap_or("ERROR");
        let mut line = format!("{severity}: {} (SQLSTATE {})", self.message, self.code);
        if let Some(position) = self.field("position") {
            line = format!("{line} at character {position}");
        }
        if let Some(hint) = self.field("hint") {
            line = format!("{line}; hint: {hint}");
        }
        line
    }

    fn outcome(self) -> Outcome {
        let message = self.line();
        let (kind, again) = judge(&self.code);
        let outcome = if let (QUERY_CANCELED, Some(limit)) = (self.code.as_str(), self.met) {
            let message = format!("timeout after {} ms; {message}", limit.as_millis());
            Outcome::timeout(message).kind("timeout").retryable(true)
        } else if again {
            Outcome::error(message).kind(kind).retryable(true)
        } else {
            Outcome::failed(message).kind(kind).retryable(false)
        };
        let code = self.code;
        let all = [("code", code.clone()), ("message", self.message)].into_iter().chain(self.fields);
        let pg: Map<String, Value> = all.map(|(name, value)| (name.to_owned(), value.into())).collect();
        outcome.error_code(code).detail("pg", pg)
    }
}

/// Returns the kind of error that a SQLSTATE is, and whether another attempt may succeed.
fn judge(code: &str) -> (&'static str, bool) {
    match code {
        "40001" => ("serialization", true),
        "40P01" => ("deadlock", true),
        "55P03" => ("lock", true),
        "57P01" | "57P02" | "57P03" | "57P05" => ("connection", true),
        "42501" => ("permission", false),
        "P0001" => ("raised", false),
        QUERY_CANCELED => ("canceled", false),
        _ => match code.get(..2).unwrap_or_default() {
            "08" => ("connection", true),
            "53" => ("resources", true),
            "22" => ("data", false),
            "23" => ("constraint", false),
            "25" | "40" => ("transaction", false),
            "28" | "3D" => ("auth", false),
            "42" => ("sql", false),
            _ => ("server", false),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_and_lost_servers_are_worth_another_attempt() {
        let again = ["40001", "40P01", "55P03", "53300", "57P01", "57P03", "08006"];
        let never = [
            "23505", "23503", "42601", "42P01", "42501", "22012", "28P01", "3D000", "P0001", "57014",
            "XX000", "",
        ];
        assert!(again.iter().all(|code| judge(code).1));
        assert!(never.iter().all(|code| !judge(code).1));
    }

    #[test]
    fn fields_of_an_error_are_in_its_outcome() {
        let error = ServerError {
            code: "23505".to_owned(),
            message: "duplicate key".to_owned(),
            fields: vec![("severity", "ERROR".to_owned()), ("constraint", "users_pkey".to_owned())],
            met: None,
        };
        let outcome = Fault::Server(Box::new(error)).outcome();
        assert_eq!(outcome.code, ExecCode::Failed);
        assert_eq!(outcome.message, "ERROR: duplicate key (SQLSTATE 23505)");
        assert_eq!(
            Value::Object(outcome.detail),
            phasm_sdk::json!({
                "error": { "kind": "constraint", "retryable": false, "code": "23505" },
                "pg": { "code": "23505", "message": "duplicate key", "severity": "ERROR", "constraint": "users_pkey" },
            })
        );
    }
}
