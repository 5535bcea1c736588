//! The requests of one attempt.

use std::sync::Arc;

use phasm_sandbox::executor::{HostCall, Invocation};

use super::{Span, SpanKind, SpanValue, Tracer, belonging, text};

/// Methods that are told by their name: there is no end of others.
const METHODS: [&str; 7] = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];

/// Traces the requests of one attempt.
pub(crate) struct Calls {
    tracer: Arc<dyn Tracer>,
    invocation: Invocation,
}

impl Calls {
    /// The calls of `invocation`, if its run is traced.
    pub(crate) fn of(tracer: Option<&Arc<dyn Tracer>>, invocation: &Invocation) -> Option<Self> {
        let tracer = Arc::clone(tracer?);
        if !invocation.trace.as_ref()?.is_sampled() {
            return None;
        }
        // Inputs hold secrets, and are of no use here.
        let invocation = Invocation {
            inputs: Arc::default(),
            config: phasm_engine::value::Value::Null,
            ..invocation.clone()
        };
        Some(Self { tracer, invocation })
    }

    /// One is over.
    pub(crate) fn ended(&self, call: HostCall) {
        let Invocation { run_id, workflow, namespace, task, attempt, .. } = &self.invocation;
        let HostCall { span, method, url, since, until, status, moved: (sent, received), failed } = call;
        let method = if METHODS.contains(&method.as_str()) { method } else { "_OTHER".to_owned() };
        let name: Arc<str> = if method == "_OTHER" { "HTTP".into() } else { method.as_str().into() };
        let number = |bytes: u64| SpanValue::Number(i64::try_from(bytes).unwrap_or(i64::MAX));
        let mut attributes = belonging(run_id, workflow, namespace);
        attributes.extend([
            ("phasm.task", text(Arc::clone(task))),
            ("phasm.attempt", SpanValue::Number((*attempt).into())),
            ("http.request.method", text(method)),
            ("url.full", text(url)),
            ("http.request.size", number(sent)),
            ("http.response.size", number(received)),
        ]);
        attributes
            .extend(status.map(|status| ("http.response.status_code", SpanValue::Number(status.into()))));
        let refused = || status.filter(|status| *status >= 400).map(|status| format!("status {status}"));
        self.tracer.ended(Span {
            context: span,
            parent: Some(self.invocation.span().span),
            kind: SpanKind::Request,
            name,
            since,
            until,
            attributes,
            failed: failed.or_else(refused).map(Into::into),
        });
    }
}
