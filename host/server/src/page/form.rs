//! A posted form.

use axum::http::StatusCode;

use crate::{problem_response::ProblemResponse, query::nul_faults, request::RequestContext};

/// The fields of a form, as they were sent.
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// # Errors
    /// 415 for what no form sends, and as of [`RequestContext::bytes`].
    pub(super) async fn read(context: &mut RequestContext) -> Result<Self, ProblemResponse> {
        if context.content_type().as_deref() != Some("application/x-www-form-urlencoded") {
            return Err(ProblemResponse::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "expected a form"));
        }
        let bytes = context.bytes().await?;
        let fields: Vec<_> = form_urlencoded::parse(&bytes).into_owned().collect();
        let faults = nul_faults("form", &fields);
        if faults.is_empty() { Ok(Self(fields)) } else { Err(ProblemResponse::faults(faults)) }
    }

    /// A form without fields.
    pub(super) fn of(fields: impl Iterator<Item = (String, String)>) -> Self {
        Self(fields.collect())
    }

    /// The same with one more field.
    pub(super) fn with(mut self, name: &str, text: &str) -> Self {
        self.0.push((name.to_owned(), text.to_owned()));
        self
    }

    /// The text of a field; empty if it was not sent.
    pub(super) fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, text)| text)
    }

    /// The fields whose names begin so, without that beginning.
    pub(super) fn beginning(&self, prefix: &str) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(move |(name, text)| Some((name.strip_prefix(prefix)?, text.as_str())))
    }
}
