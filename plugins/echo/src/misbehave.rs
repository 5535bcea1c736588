//! Faults that a host has to survive.

use std::hint::{black_box, spin_loop};

use crate::controls::Controls;

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
