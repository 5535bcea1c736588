//! One input for each fuzz target of `tests/fuzz`. An ordinary test does the same with every input kept there.
//!
//! Each of these functions takes any bytes and panics where the code under test breaks a promise. Bytes that are no
//! UTF-8 are skipped: the code under test takes text.

mod document;
mod duration;
mod expression;
mod functions;

pub use self::{
    document::{Read, document},
    duration::duration,
    expression::expression,
    functions::functions,
};

/// Whether `offset` lies in `text`, between two characters.
fn points_into(text: &str, offset: usize) -> bool {
    // Also false behind the end.
    text.is_char_boundary(offset)
}
