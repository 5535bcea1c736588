//! One run as a picture, which needs nothing beside it.

use axum::{
    body::Body,
    http::{HeaderValue, header},
    response::Response,
};
use phasm::clock::Clock;
use phasm_graph::{Diagram, Limits, SvgOptions, Timeline, graph_svg, timeline_svg};

use crate::{page::history, problem_response::ProblemResponse, request::RequestContext};

/// The style is inline: the picture loads nothing else.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

pub(crate) async fn picture(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let timeline = context.query.flag("timeline");
    context.query.done()?;
    let row = context.run().await?;
    let limits = Limits::default();
    let drawn = if timeline {
        let recorded = history::read(&context.app, &row.head.run_id, None, &context.holder).await?;
        let timeline = Timeline::of(&recorded.run, &recorded.suspensions, Clock::start().now(), limits);
        timeline_svg(&timeline, SvgOptions::default())
    } else {
        let handle = context.app.host.run_of(&row).counted_for(context.holder.clone());
        handle.outline(move |run, _| graph_svg(&Diagram::of_run(run, limits), SvgOptions::default())).await?
    };
    let mut response = Response::new(Body::from(drawn));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("image/svg+xml"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    Ok(response)
}
