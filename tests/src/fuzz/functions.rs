//! Any text as the functions of a document.

use std::sync::Arc;

use phasm_engine::expr::{Doubts, Expr, Functions};

use super::{
    expression::{Asked, DATA, DEEPEST, depth},
    points_into,
};

/// How a function called `f` is tried, whatever it takes.
const CALLS: [&str; 4] = ["f()", "f(f)", "f(g, 7)", "[f(tasks, c, d)] | length"];

/// Checks that `data` as text is functions that keep their promises, or has faults with a reason and a place.
///
/// # Panics
/// When it is not.
pub fn functions(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (functions, errors) = Functions::read(text);
    for error in &errors {
        assert!(points_into(text, error.offset) && !error.message.is_empty(), "{text:?}: {error:?}");
    }
    if !errors.is_empty() {
        return;
    }
    let functions = Arc::new(functions);
    for call in CALLS {
        let Ok(expr) = Expr::compile_with(call, &functions) else { continue };
        let value = expr.eval(&Asked::of(&DATA), &mut Doubts::default());
        assert_eq!(value, expr.eval(&Asked::of(&DATA), &mut Doubts::default()), "{text:?}");
        if let Ok(value) = &value {
            assert!(depth(value) <= DEEPEST, "{text:?} makes what nests too deeply");
        }
    }
}
