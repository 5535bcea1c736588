//! The four seeds, tested: their code blocks, tables, documents and expressions.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod blocks;
mod documents;
mod echo;
mod expressions;
mod rows;
