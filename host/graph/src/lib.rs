//! Pictures of plans and runs. Nothing here reads a clock, a file or a store: the same run is the same picture.
//!
//! ```text
//!  Plan, or Run ── items ──▶ groups of what stands in one container, and what follows what
//!                    │ pick       the most that a picture holds; the rest is counted
//!                    ▼
//!                 Diagram ── Layout ──▶ boxes in boxes, lines that go downwards around them ── svg ──▶ text
//!                    └── text ──▶ a tree for a terminal
//!  Run, and when it was suspended ──▶ Timeline ── svg ──▶ text
//! ```
//!
//! Names are strangers': whatever is written into a picture is escaped, and cut to its place with the whole of it in a title.

mod arrange;
mod chart;
mod diagram;
mod draw;
mod items;
mod layout;
mod look;
mod markup;
mod order;
mod pick;
mod rank;
mod settle;
mod sign;
mod suspensions;
mod tally;
mod timeline;
mod tree;

pub use self::{
    diagram::{Diagram, Follows, Limits, Shown},
    draw::Drawing,
    layout::{Layout, Line, Piece, Rect},
    look::{Kind, Look},
    sign::mark,
    suspensions::Suspensions,
    tally::Tally,
    timeline::{Bar, Row, Timeline, What},
};

/// The stylesheet of every picture: colours are custom properties, which a page may set otherwise.
pub const STYLE: &str = include_str!("style.css");
