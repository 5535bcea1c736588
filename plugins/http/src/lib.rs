//! Sends an HTTP request and reads the answer.

mod answer;
mod body;
mod content;
mod exchange;
mod fault;
mod pages;
mod patience;
mod redirect;
mod request;
#[cfg(not(target_arch = "wasm32"))]
#[path = "transport/native.rs"]
mod transport;
#[cfg(target_arch = "wasm32")]
#[path = "transport/wasi.rs"]
mod transport;
mod url;

use phasm_sdk::{inputs::Object, prelude::*};

inputs! {
    /// A request, and how to read the response.
    pub struct Task {
        /// Where to; `http` or `https`.
        url: String,
        /// `GET`, `POST` and so on.
        method: String = "GET".to_owned(),
        /// Added to the URL's query; a list stands for several of a name, null for none.
        params: Option<phasm_sdk::Map<String, Value>>,
        /// A list stands for several of a name, null for none.
        headers: Option<phasm_sdk::Map<String, Value>>,
        /// Body to send: a text is sent as it is, anything else as JSON.
        body: Option<Json>,
        /// A file to send as the body: its path in a granted directory, or an artifact.
        body_file as "bodyFile": Option<Json>,
        /// Fields and files to send as a form (`multipart/form-data`).
        form: Option<Vec<Object<content::FormPart>>>,
        /// Credentials.
        auth: Option<Object<Auth>>,
        /// The part that `auth` leaves out, so that it can come from a secret. Without `auth` it is a bearer token.
        secret: Option<String>,
        /// How long to wait.
        timeout: Option<Object<patience::Timeout>>,
        /// Settings in the form of a labelled task: `timeout`.
        spec: Option<Object<Spec>>,
        /// Required format of the response's body.
        expect: body::Expect = body::Expect::Auto,
        /// Further statuses that are no error.
        accept: Vec<u16> = Vec::new(),
        /// Reads a list page by page, until there is no next page.
        pages: Option<Object<pages::Pages>>,
        /// A file in a granted directory: the body is streamed there.
        save_to as "saveTo": Option<String>,
        /// A larger body is not read.
        max_bytes as "maxBytes": Option<u64>,
        /// Redirects that are followed; each is a request of its own and has to be granted.
        max_redirects as "maxRedirects": u32 = 5,
        /// Sends the dispatch's key as `Idempotency-Key`.
        idempotency_key as "idempotencyKey": bool = false,
    }
}

inputs! {
    /// A bearer token, or a name and password, or a header; `secret` stands for what is left out.
    pub struct Auth {
        /// The token.
        bearer: Option<String>,
        /// The name, for basic authentication.
        username: Option<String>,
        /// The password.
        password: Option<String>,
        /// The name of a header that is `secret`.
        header: Option<String>,
    }
}

inputs! {
    /// The part of `spec` that this plugin reads.
    pub struct Spec {
        /// How long to wait.
        timeout: Option<Object<patience::Timeout>>,
        ..
    }
}

/// Sends the request; follows redirects.
///
/// # Errors
///
/// Code 2 for an answer that would be the same again, 3 for one that may not, and for mistakes, 4 when it takes too long.
pub fn http(call: Call<Task>) -> Result {
    let request = request::Request::of(&call.inputs, &call.idempotency_key)?;
    exchange::exchange(request, &call.inputs, &call.task_run_id)
}

executor!(http, {
    outputs: {
        /// The status of the response.
        status: u16,
        /// Its headers, their names in lower case.
        headers: Json,
        /// Where it came from in the end.
        url: String,
        /// Body of the response: a value, a text, or bytes as base64. Absent with `saveTo`.
        body: Option<Json>,
        /// Elements of all pages, with `pages`.
        items: Option<Vec<Json>>,
        /// Number of pages that were read, with `pages`.
        pages: Option<u32>,
        /// Format of `body`: `json`, `text` or `base64`.
        format: Option<String>,
        /// Bytes of the body.
        size: Option<u64>,
        /// The file, with `saveTo`.
        path: Option<String>,
        /// The artifact, with `saveTo` in `/artifacts/out`.
        artifact: Option<Json>,
    },
});

#[cfg(test)]
mod tests;
