//! `workload`: NoETL's word for the workflow's parameters.

use super::{Declared, PIPELINE, Root, Shape, member_of};

pub(super) static WORKLOAD: Root = Root {
    name: "workload",
    shape: Shape::Declared(Declared::MaybeWorkflow),
    value: |sight, path| member_of(sight.workflow().parameters, path),
    ..PIPELINE
};
