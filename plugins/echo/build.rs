//! Links the guest with a small stack and no heap but what is left of its second page: the two are all that a call's end has to reset,
//! and that is a good part of what a call of this one costs.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size=65536");
        println!("cargo::rustc-link-arg-cdylib=--initial-heap=0");
    }
}
