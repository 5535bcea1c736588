//! The collector, and spans as it knows them.

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use opentelemetry::{
    InstrumentationScope, KeyValue,
    trace::{SpanContext, SpanId, SpanKind as OtelKind, Status, TraceFlags, TraceId, TraceState},
};
use opentelemetry_http::{Bytes, HttpError, Request, Response};
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, RetryPolicy, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::{
    Resource,
    trace::{SpanData, SpanEvents, SpanExporter as _, SpanLinks},
};
use phasm::{
    config::TelemetrySettings,
    sandbox::{HttpClient, HttpConfig, HttpLimits, HttpRequest},
    spans::{Span, SpanKind, SpanValue},
};

/// How long a batch may take to be taken.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);
/// The most of an answer that is read.
const MAX_RESPONSE_BYTES: u64 = 1 << 20;
/// Statuses of a collector that is overloaded.
const RETRYABLE_STATUSES: [u16; 4] = [429, 502, 503, 504];
/// Characters of a text that are sent at most.
const MAX_ATTRIBUTE_CHARS: usize = 1024;

/// Takes spans.
pub(super) struct Collector {
    exporter: SpanExporter,
    scope: InstrumentationScope,
    url: String,
    /// Why nothing came of the last request, which the exporter keeps to itself.
    untaken: Arc<Mutex<Option<ExportError>>>,
}

/// Why spans were not taken.
pub(super) struct ExportError {
    pub(super) why: String,
    /// Whether they may be the next time.
    pub(super) is_passing: bool,
}

impl Collector {
    /// # Errors
    /// When what the configuration and the environment say of it makes no sense.
    pub(super) fn new(settings: &TelemetrySettings, http: &HttpConfig) -> Result<Self, ExporterBuildError> {
        let limits = HttpLimits { time: EXPORT_TIMEOUT, ..HttpLimits::default() };
        let client = HttpClient::new(HttpConfig { limits, secrets: Vec::new(), ..http.clone() });
        let untaken = Arc::default();
        let posting = HttpPoster { client, untaken: Arc::clone(&untaken) };
        let headers: HashMap<String, String> = settings.headers.iter().cloned().collect();
        let mut builder = SpanExporter::builder()
            .with_http()
            .with_http_client(posting)
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(EXPORT_TIMEOUT)
            // The exporter's own retry would block the thread; the queue retries instead.
            .with_retry_policy(RetryPolicy::disabled())
            .with_headers(headers);
        if let Some(otlp) = &settings.otlp {
            builder = builder.with_endpoint(format!("{}/v1/traces", otlp.trim_end_matches('/')));
        }
        let mut exporter = builder.build()?;
        exporter.set_resource(&resource(settings));
        let scope = InstrumentationScope::builder("phasm").with_version(env!("CARGO_PKG_VERSION")).build();
        let url = settings
            .otlp
            .clone()
            .unwrap_or_else(|| "the collector of OTEL_EXPORTER_OTLP_ENDPOINT".to_owned());
        Ok(Self { exporter, scope, url, untaken })
    }

    /// Where it is, for people.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// # Errors
    /// Why it did not take them.
    pub(super) async fn send(&self, spans: &[Span]) -> Result<(), ExportError> {
        let spans = spans.iter().map(|span| self.data(span.clone())).collect();
        let sent = self.exporter.export(spans).await;
        let untaken = self.untaken.lock().unwrap_or_else(PoisonError::into_inner).take();
        sent.map_err(|error| {
            untaken.unwrap_or_else(|| ExportError { why: error.to_string(), is_passing: false })
        })
    }

    fn data(&self, span: Span) -> SpanData {
        let Span { context, parent, kind, name, since, until, attributes, failed } = span;
        let (word, span_kind) = match kind {
            SpanKind::Submit => ("submit ", OtelKind::Server),
            SpanKind::Run => ("run ", OtelKind::Internal),
            SpanKind::Step => ("step ", OtelKind::Internal),
            SpanKind::Attempt => ("attempt ", OtelKind::Internal),
            SpanKind::Request => ("", OtelKind::Client),
        };
        let id = |span: phasm::sandbox::trace::SpanId| SpanId::from_bytes(span.0);
        SpanData {
            span_context: SpanContext::new(
                TraceId::from_bytes(context.trace.0),
                id(context.span),
                TraceFlags::SAMPLED,
                false,
                TraceState::default(),
            ),
            parent_span_id: parent.map_or(SpanId::INVALID, id),
            parent_span_is_remote: false,
            span_kind,
            name: format!("{word}{}", short(&name)).into(),
            start_time: since,
            end_time: until.max(since),
            attributes: attributes.into_iter().map(|(name, value)| attribute(name, &value)).collect(),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: failed.map_or(Status::Unset, |why| Status::error(short(&why))),
            instrumentation_scope: self.scope.clone(),
        }
    }
}

fn attribute(name: &'static str, value: &SpanValue) -> KeyValue {
    match value {
        SpanValue::Text(text) => KeyValue::new(name, short(text)),
        SpanValue::Number(number) => KeyValue::new(name, *number),
    }
}

/// Cuts a text to the length of an attribute.
fn short(text: &str) -> String {
    text.chars().take(MAX_ATTRIBUTE_CHARS).collect()
}

/// Returns the resource attributes of this process. The configuration goes before the environment.
fn resource(settings: &TelemetrySettings) -> Resource {
    let is_named = std::env::var("OTEL_SERVICE_NAME").is_ok_and(|name| !name.is_empty())
        || std::env::var("OTEL_RESOURCE_ATTRIBUTES").is_ok_and(|all| all.contains("service.name="));
    let name = settings.service_name.clone().or_else(|| (!is_named).then(|| "phasm".to_owned()));
    let more = settings.resource.iter().map(|(name, value)| KeyValue::new(name.clone(), value.clone()));
    let own = [
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        KeyValue::new("process.pid", i64::from(std::process::id())),
    ];
    let builder = Resource::builder().with_attributes(own).with_attributes(more);
    name.into_iter().fold(builder, |builder, name| builder.with_service_name(name)).build()
}

/// Posts what the exporter has encoded, with the client that the host has for its own requests.
struct HttpPoster {
    client: HttpClient,
    untaken: Arc<Mutex<Option<ExportError>>>,
}

impl fmt::Debug for HttpPoster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Posting")
    }
}

impl HttpPoster {
    async fn post(&self, request: Request<Bytes>) -> Result<Response<Bytes>, String> {
        let (parts, body) = request.into_parts();
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let more: Vec<_> =
            parts.headers.iter().map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect();
        let request = HttpRequest {
            method: "POST",
            url: parts.uri.to_string(),
            headers: Vec::new(),
            body: body.to_vec(),
            most: MAX_RESPONSE_BYTES,
            inside: true,
        };
        let answer = self.client.send_with(request, &more).await?;
        let status = answer.status;
        if !(200..300).contains(&status) {
            self.say(format!("status {status}"), RETRYABLE_STATUSES.contains(&status));
        }
        let response = Response::builder().status(status);
        response.body(Bytes::from(answer.body)).map_err(|error| error.to_string())
    }

    fn say(&self, why: String, is_passing: bool) {
        *self.untaken.lock().unwrap_or_else(PoisonError::into_inner) = Some(ExportError { why, is_passing });
    }
}

impl opentelemetry_http::HttpClient for HttpPoster {
    fn send_bytes<'a, 't>(
        &'a self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 't>>
    where
        'a: 't,
        Self: 't,
    {
        Box::pin(async move {
            self.post(request).await.map_err(|why| {
                self.say(why.clone(), true);
                why.into()
            })
        })
    }
}
