//! Links the guest with a stack of 1 MiB: the interpreter recurses over filters that recurse, 3 KiB a level, which the 256 KiB of
//! others let it do 73 times and these 296.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size=1048576");
    }
}
