//! Links the guest with a stack of 1 MiB: the interpreter recurses over filters that recurse, 3 KiB a level, and with less it would
//! trap before the sandbox says that its stack is at its limit.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size=1048576");
    }
}
