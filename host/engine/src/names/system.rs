//! `system`: where the host runs.

use super::{Root, Shape};
use crate::value::Value;

pub(super) static SYSTEM: Root = Root {
    name: "system",
    visible: |_| true,
    shape: Shape::Object(&[
        ("os", Shape::Words(&["linux", "darwin", "windows"])),
        ("arch", Shape::Words(&["amd64", "arm64"])),
    ]),
    hint: "",
    value: |run, path| match path {
        [key] if key.as_ref() == "os" => run.system().os.clone().into(),
        [key] if key.as_ref() == "arch" => run.system().arch.clone().into(),
        _ => Value::Null,
    },
};
