//! What a host has to survive.

use std::hint::{black_box, spin_loop};

use phasm_sdk::{
    prelude::*,
    serde::{Deserialize, Deserializer, de::Error},
};

use crate::controls::Controls;

/// Lines for the log: as many as a number says, a text, or a list of texts.
#[derive(Debug, Default, PartialEq)]
pub(crate) enum Lines {
    #[default]
    None,
    Count(u64),
    Texts(Vec<String>),
}

impl<'de> Deserialize<'de> for Lines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let unfit = || D::Error::custom("expected a number of lines, a text or a list of texts");
        match Value::deserialize(deserializer)? {
            Value::Number(count) => count.as_u64().map(Self::Count).ok_or_else(unfit),
            Value::String(text) => Ok(text.parse().map_or_else(|_| Self::Texts(vec![text]), Self::Count)),
            Value::Array(texts) => {
                let texts = texts.into_iter().map(|text| text.as_str().map(str::to_owned));
                texts.collect::<Option<_>>().map(Self::Texts).ok_or_else(unfit)
            }
            Value::Null | Value::Bool(_) | Value::Object(_) => Err(unfit()),
        }
    }
}

impl Lines {
    fn write(&self) {
        match self {
            Self::None => {}
            Self::Count(count) => (1..=*count).for_each(|n| info!("line {n}")),
            Self::Texts(texts) => texts.iter().for_each(|text| info!("{text}")),
        }
    }
}

/// Logs, allocates, traps and spins, in this order; what was allocated stays so while the answer is made.
pub(crate) fn misbehave(controls: &Controls) -> Vec<Vec<u8>> {
    controls.log.write();
    let held = allocate(controls.allocate.0);
    if controls.trap.0 {
        trap();
    }
    if controls.spin.0 {
        spin();
    }
    held
}

/// Takes memory one MiB at a time and writes to it, so that a limit is met where it stands.
fn allocate(mebibytes: u32) -> Vec<Vec<u8>> {
    (0..mebibytes).map(|_| black_box(vec![1; 1 << 20])).collect()
}

fn spin() -> ! {
    loop {
        spin_loop();
    }
}

#[cfg(target_arch = "wasm32")]
fn trap() {
    core::arch::wasm32::unreachable()
}

#[cfg(not(target_arch = "wasm32"))]
#[expect(clippy::panic, reason = "stands for the trap in native tests")]
fn trap() {
    panic!("trap")
}
