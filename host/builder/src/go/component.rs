//! From a core module of Go to a component.

use wit_component::{StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use crate::{core_module::wrapped, script::WIT};

/// The world of an executor.
const WORLD: &str = "executor";

/// The module as a component; or why there is none.
///
/// The go command writes no interface into a module: the functions of the SDK are those of the world.
pub(super) fn component(module: &[u8]) -> Result<Vec<u8>, String> {
    let mut module = module.to_vec();
    let mut resolve = Resolve::default();
    let packages =
        WIT.iter().map(|(name, text)| resolve.push_source(name, text)).collect::<Result<Vec<_>, _>>();
    packages
        .and_then(|packages| resolve.select_world(&packages, Some(WORLD)))
        .and_then(|world| embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8))
        .map_err(|error| format!("the interface of executors cannot be read: {error:#}"))?;
    wrapped(&module)
}
