//! The checked-in bindings of the SDK are what the generator makes of `wit/` today.
//!
//! `UPDATE_BINDINGS=1 cargo test --manifest-path tests/bindings/Cargo.toml` writes them anew.

use std::{error::Error, fs, path::Path};

use wit_bindgen_core::{Files, WorldGenerator, wit_parser::Resolve};
use wit_bindgen_rust::Opts;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// How the bindings are generated: they need nothing but the SDK, neither a macro nor a runtime crate.
fn opts() -> Opts {
    Opts {
        format: true,
        // The reactor's `_initialize` runs constructors, and std exports `cabi_realloc` on wasm32-wasip2.
        disable_run_ctors_once_workaround: true,
        runtime_path: Some("crate::runtime".to_owned()),
        pub_export_macro: true,
        export_macro_name: Some("export_executor".to_owned()),
        default_bindings_module: Some("phasm_sdk::bindings".to_owned()),
        ..Opts::default()
    }
}

fn generate() -> Result<String, Box<dyn Error>> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(Path::new(ROOT).join("wit"))?;
    let world = resolve.select_world(&[package], Some("executor"))?;
    let mut files = Files::default();
    opts().build().generate(&mut resolve, world, &mut files)?;
    let (_, text) = files.iter().next().ok_or("the generator made no file")?;
    Ok(String::from_utf8(text.to_vec())?)
}

#[test]
fn checked_in_bindings_are_fresh() -> Result<(), Box<dyn Error>> {
    let path = Path::new(ROOT).join("plugin-sdk/src/bindings.rs");
    let generated = generate()?;
    if std::env::var_os("UPDATE_BINDINGS").is_some() {
        fs::write(&path, &generated)?;
    }
    assert!(
        fs::read_to_string(&path)? == generated,
        "plugin-sdk/src/bindings.rs is not what wit/ says; UPDATE_BINDINGS=1 cargo test --manifest-path tests/bindings/Cargo.toml"
    );
    Ok(())
}
