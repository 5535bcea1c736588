//! Routes for clients of Phasm itself: tickets, rows of runs, validation.

use super::parameters::LISTING;
use crate::{
    auth::caller::Role,
    route::{Kind, Route, Sends, Shape, Verb, parameter, serve},
    runs::kept,
    tickets, validate,
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: Verb::Post,
        path: "/v1/tickets",
        id: "makeTicket",
        needs: Some(Role::Read),
        what: "A word that signs one browser in with the key of the request: once, and for a minute only, at `/login?ticket=`.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "The word.", Shape::Json("Ticket"))],
        refusals: &[],
        serve: serve!(tickets::make),
    },
    Route {
        method: Verb::Get,
        path: "/v1/rows",
        id: "listRows",
        needs: Some(Role::Read),
        what: "Lists runs as their store has them, for another Phasm: the parameters are those of `listRuns`.",
        query: LISTING,
        headers: &[],
        body: None,
        answers: &[(200, "A page of rows.", Shape::Json("Rows"))],
        refusals: &[],
        serve: serve!(kept::rows),
    },
    Route {
        method: Verb::Get,
        path: "/v1/rows/{run}",
        id: "getRow",
        needs: Some(Role::Read),
        what: "A run as its store has it, for another Phasm: its row, and what is asked for of its journal and its logs.",
        query: &[
            parameter("since", Kind::Count(0, u32::MAX), "The records of its journal from this event on."),
            parameter(
                "wait",
                Kind::Length,
                "No records: answer once there are events from `since` on, or after so long.",
            ),
            parameter("logs", Kind::Flag, "What is kept of its attempts' logs."),
            parameter("task", Kind::Count(0, u32::MAX), "Of the logs, only those of this task run."),
        ],
        headers: &[],
        body: None,
        answers: &[(200, "The run.", Shape::Json("KeptRun"))],
        refusals: &[404],
        serve: serve!(kept::run),
    },
    Route {
        method: Verb::Post,
        path: "/v1/validate",
        id: "validateDocument",
        needs: Some(Role::Read),
        what: "Checks a document without running it.",
        query: &[],
        headers: &[],
        body: Some(Sends::Document),
        answers: &[(200, "It is valid; `warnings` may be worth a look.", Shape::Json("Validated"))],
        refusals: &[408, 413, 415, 422],
        serve: serve!(validate::validate),
    },
];
