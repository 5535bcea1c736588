//! Requests with the callers that make them.

use phasm_engine::event::Requester;
use serde::{Deserialize, Serialize};

use super::request::RunRequest;

/// A request to a run, and the caller that makes it.
///
/// The stored form is the request as JSON, and behind it an object with the caller, if it is known. A version of Phasm that
/// knows no callers reads the request and ignores what is behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestEnvelope {
    /// The request.
    pub request: RunRequest,
    /// The caller, as this process has authenticated it; none if it is not known.
    pub by: Option<Requester>,
}

/// The object behind the request. A later version may add members, which this one ignores.
#[derive(Serialize, Deserialize)]
struct Sender {
    by: Requester,
}

impl From<RunRequest> for RequestEnvelope {
    fn from(request: RunRequest) -> Self {
        Self { request, by: None }
    }
}

impl RequestEnvelope {
    /// The stored form.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.request.bytes();
        if let Some(by) = &self.by {
            // Nothing in it is fallible.
            bytes.extend(serde_json::to_vec(&Sender { by: by.clone() }).unwrap_or_default());
        }
        bytes
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        // Payloads nest as deep as documents may.
        reader.disable_recursion_limit();
        let request = RunRequest::deserialize(&mut reader).ok()?;
        if reader.end().is_ok() {
            return Some(request.into());
        }
        let sender = Sender::deserialize(&mut reader).ok()?;
        // The row may come from another program: its names get the form that all have.
        Some(Self { request, by: Some(Requester::new(sender.by.as_str())) })
    }
}

#[cfg(test)]
mod tests {
    use phasm_engine::value::Map;

    use super::*;

    fn resume() -> RunRequest {
        RunRequest::Resume { task: "ask".into(), payload: Map::from([("approved".into(), true.into())]) }
    }

    /// R-S15: the caller survives the store.
    #[test]
    fn a_request_is_read_as_it_was_written() {
        for request in [resume(), RunRequest::Cancel, RunRequest::CancelTask { task: "a".into() }] {
            for by in [None, Some(Requester::key("ada"))] {
                let envelope = RequestEnvelope { request: request.clone(), by };
                assert_eq!(RequestEnvelope::read(&envelope.bytes()), Some(envelope));
            }
        }
    }

    /// R-S15: hosts of the version before read the request, as they read one value and no further; what they wrote has no caller.
    #[test]
    fn neighbouring_versions_read_each_others_requests() {
        let named = RequestEnvelope { request: resume(), by: Some(Requester::key("ada")) }.bytes();
        let mut as_before = serde_json::Deserializer::from_slice(&named);
        assert_eq!(RunRequest::deserialize(&mut as_before).unwrap(), resume());
        assert_eq!(RequestEnvelope::read(&resume().bytes()), Some(resume().into()));
        let later = [resume().bytes(), br#"{"by":"ada","more":[1]}"#.to_vec()].concat();
        assert_eq!(RequestEnvelope::read(&later).unwrap().by, Some(Requester::key("ada")));
    }

    /// A request whose caller cannot be read is not carried out without one.
    #[test]
    fn a_damaged_caller_is_no_request() {
        for behind in ["{", "null", "{\"by\":1}", "{}", "x"] {
            let bytes = [resume().bytes(), behind.as_bytes().to_vec()].concat();
            assert_eq!(RequestEnvelope::read(&bytes), None, "{behind}");
        }
    }

    /// A member of the response is no caller.
    #[test]
    fn a_response_cannot_name_a_caller() {
        let payload = Map::from([("by".into(), "ada".into()), ("resumedBy".into(), "ada".into())]);
        let request = RunRequest::Resume { task: "ask".into(), payload };
        assert_eq!(RequestEnvelope::read(&request.bytes()).unwrap().by, None);
    }
}
