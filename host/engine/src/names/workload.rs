//! `workload`: NoETL's word for the workflow's parameters.

use super::{DeclarationSite, PIPELINE, Root, Shape, member_of};

pub(super) static WORKLOAD: Root = Root {
    name: "workload",
    shape: Shape::Declared(DeclarationSite::MaybeWorkflow),
    value: |run, path| member_of(run.workflow().parameters, path),
    ..PIPELINE
};
