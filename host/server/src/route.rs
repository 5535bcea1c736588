//! A route as data: the router and the OpenAPI document are both made of such.

use std::pin::Pin;

use axum::routing::MethodFilter;

use crate::{
    answer::Answer,
    auth::caller::Role,
    problem_response::ProblemResponse,
    request::RequestContext,
    resources::{Resource, RouteAccess},
};

/// Future of a handler.
pub(crate) type Handling = Pin<Box<dyn Future<Output = Result<Answer, ProblemResponse>> + Send>>;

/// One route.
pub(crate) struct Route {
    pub(crate) method: Verb,
    pub(crate) path: &'static str,
    /// Its name in the document.
    pub(crate) id: &'static str,
    /// Role that a caller needs. `None` for routes without authentication.
    pub(crate) needs: Option<Role>,
    /// Bounded resources that it uses, besides its connection.
    pub(crate) uses: &'static [Resource],
    pub(crate) what: &'static str,
    pub(crate) query: &'static [Parameter],
    pub(crate) headers: &'static [Parameter],
    pub(crate) body: Option<Sends>,
    /// Successful answers: status, description, body.
    pub(crate) answers: &'static [(u16, &'static str, Shape)],
    /// Refusals of its own, besides those of all routes.
    pub(crate) refusals: &'static [u16],
    pub(crate) serve: fn(RequestContext) -> Handling,
}

impl Route {
    pub(crate) const fn access(&self) -> RouteAccess {
        RouteAccess { needs: self.needs, uses: self.uses }
    }
}

/// How a route is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
    Put,
    Delete,
}

impl Verb {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Put => "put",
            Self::Delete => "delete",
        }
    }

    pub(crate) const fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Put => MethodFilter::PUT,
            Self::Delete => MethodFilter::DELETE,
        }
    }
}

/// A parameter of the query, or a header.
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) kind: Kind,
}

/// Type of a parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Text,
    /// Text that this regular expression describes.
    Like(&'static str),
    /// A length of time, a day or an instant.
    Since,
    Count(u32, u32),
    Flag,
    Phase,
    Length,
}

/// Content of a request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sends {
    /// A document, JSON or YAML, or one beside its parameters.
    Document,
    /// An object of values by name; nothing is an empty one.
    Answer,
    /// A component.
    Plugin,
    /// A file.
    File,
    /// Changes to the run that is run again.
    Rerun,
}

/// Content of a response body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Json(&'static str),
    /// JSON, or a stream of events where that is asked for.
    Streamed(&'static str),
    Text(&'static str),
    /// Bytes of a file.
    File,
    Nothing,
}

pub(crate) const fn parameter(name: &'static str, kind: Kind, what: &'static str) -> Parameter {
    Parameter { name, what, kind }
}

/// Makes the handler of a route of an async function.
macro_rules! serve {
    ($function:path) => {
        |context| Box::pin(async move { $function(context).await.map($crate::answer::Answer::from) })
    };
}

/// Makes the handler of a route whose work is done in its turn, on a thread for long work.
macro_rules! on_work_thread {
    ($function:path) => {
        |context| {
            Box::pin(async move { context.on_work_thread($function).await.map($crate::answer::Answer::from) })
        }
    };
}

/// Resources of a route that reads a document.
pub(crate) const DOCUMENT: &[Resource] = &[Resource::Bodies, Resource::Work];
/// Resources of a route whose work grows with a run, or with a list of them.
pub(crate) const VIEW: &[Resource] = &[Resource::Work];
/// Resources of a route that sends one value.
pub(crate) const VALUE: &[Resource] = &[Resource::Work, Resource::Values];
/// Resources of a route that follows a run.
pub(crate) const FOLLOW: &[Resource] = &[Resource::Work, Resource::CatchUp];
pub(crate) use {on_work_thread, serve};
