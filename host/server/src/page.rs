//! The page for people, on top of the same host: its own routes, with [`Caller`](crate::caller::Caller) as an extractor.

use std::sync::Arc;

use axum::Router;

use crate::app::App;

/// Routes of the page; the guard stands before them as before the API.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
}
