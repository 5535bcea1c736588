//! Links the guest with a small stack. With the default of 1 MiB below its data, nothing that a call touches lies in the
//! 128 KiB that the host's pool keeps resident, and every call faults its pages in anew: four times the price.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size=65536");
    }
}
