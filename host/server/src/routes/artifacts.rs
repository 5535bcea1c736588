//! Routes of artifacts.

use crate::{
    artifacts,
    auth::caller::Role,
    resources::Resource,
    route::{Kind, Route, Sends, Shape, VIEW, Verb, on_work_thread, parameter, serve},
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: Verb::Post,
        path: "/v1/artifacts",
        id: "putArtifact",
        needs: Some(Role::Run),
        uses: &[Resource::Uploads],
        what: "Stores a file as an artifact, for a parameter of a run. Without a run that names it, it is deleted after a day.",
        query: &[
            parameter("name", Kind::Like("^[^\u{0}]{0,255}$"), "The name of the file, for people."),
            parameter(
                "namespace",
                Kind::Like("^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"),
                "The namespace of the runs that may name it; `default` by default.",
            ),
        ],
        headers: &[],
        body: Some(Sends::File),
        answers: &[(201, "Stored: the value that names it.", Shape::Json("Artifact"))],
        refusals: &[408, 413, 507],
        serve: serve!(artifacts::upload),
    },
    Route {
        method: Verb::Get,
        path: "/v1/runs/{run}/artifacts",
        id: "listArtifacts",
        needs: Some(Role::Read),
        uses: VIEW,
        what: "The artifacts that the parameters and outputs of a run name.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "The artifacts.", Shape::Json("Artifacts"))],
        refusals: &[404],
        serve: on_work_thread!(artifacts::list),
    },
    Route {
        method: Verb::Get,
        path: "/v1/runs/{run}/artifacts/{artifact}",
        id: "getArtifact",
        needs: Some(Role::Read),
        uses: &[],
        what: "The content of an artifact of a run, which is named by its digest. It is compared with the digest before the first byte is \
               sent. `Range: bytes=FIRST-LAST` asks for a part.",
        query: &[],
        headers: &[parameter("Range", Kind::Text, "The part that is wanted.")],
        body: None,
        answers: &[(200, "The content.", Shape::File), (206, "The part.", Shape::File)],
        refusals: &[404, 416],
        serve: serve!(artifacts::get),
    },
];
