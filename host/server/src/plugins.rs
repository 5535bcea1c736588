//! The plugins that runs find.

use axum::{http::StatusCode, response::Response};
use serde_json::json;

use crate::{
    call::{Call, json},
    refusal::Refusal,
};

pub(crate) async fn list(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    let names = call.app.host.plugins().map(phasm::plugins::Plugins::names).unwrap_or_default();
    let plugins: Vec<_> = names.iter().map(|name| json!({ "name": &**name })).collect();
    std::future::ready(Ok(json(StatusCode::OK, &json!({ "plugins": plugins })))).await
}
