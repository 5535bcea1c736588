//! The bodies of the fuzz targets and what they need, without the crates that they live in: `phasm-tests` and `phasm` bring
//! wasmtime along, which must not be instrumented.

pub use self::{host::reader, tests::fuzz, tests::world};

#[path = "../../../host/src"]
mod host {
    pub mod reader;
}

#[path = "../../src"]
mod tests {
    pub mod fuzz;
    pub mod world;
}
