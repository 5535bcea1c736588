//! Routes for clients of Phasm itself: tickets, rows of runs, validation.

use super::parameters::LISTING;
use crate::{
    auth::caller::Role,
    route::{Kind, Route, Sends, Shape, Verb, parameter, serve},
    runs::rows,
    tickets, validate,
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: Verb::Post,
        path: "/v1/tickets",
        id: "makeTicket",
        needs: Some(Role::Read),
        what: "A one-time login token for the key of the request, valid for 60 s, to be used at `/login?ticket=`.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "The token.", Shape::Json("Ticket"))],
        refusals: &[],
        serve: serve!(tickets::make),
    },
    Route {
        method: Verb::Get,
        path: "/v1/rows",
        id: "listRows",
        needs: Some(Role::Read),
        what: "Lists runs as stored, for Phasm's own clients. The parameters are those of `listRuns`.",
        query: LISTING,
        headers: &[],
        body: None,
        answers: &[(200, "A page of rows.", Shape::Json("Rows"))],
        refusals: &[],
        serve: serve!(rows::rows),
    },
    Route {
        method: Verb::Get,
        path: "/v1/rows/{run}",
        id: "getRow",
        needs: Some(Role::Read),
        what: "A run as stored, for Phasm's own clients: its row, and the requested parts of its journal and logs.",
        query: &[
            parameter("since", Kind::Count(0, u32::MAX), "The records of its journal from this event on."),
            parameter(
                "wait",
                Kind::Length,
                "Without records: wait until there are events from `since` on, for this long at most.",
            ),
            parameter("logs", Kind::Flag, "Include the stored logs of its attempts."),
            parameter("task", Kind::Count(0, u32::MAX), "Include only the logs of this task run."),
        ],
        headers: &[],
        body: None,
        answers: &[(200, "The run.", Shape::Json("KeptRun"))],
        refusals: &[404],
        serve: serve!(rows::run),
    },
    Route {
        method: Verb::Post,
        path: "/v1/validate",
        id: "validateDocument",
        needs: Some(Role::Read),
        what: "Checks a workflow without running it.",
        query: &[],
        headers: &[],
        body: Some(Sends::Document),
        answers: &[(200, "It is valid; `warnings` may have hints.", Shape::Json("Validated"))],
        refusals: &[408, 413, 415, 422],
        serve: serve!(validate::validate),
    },
];
