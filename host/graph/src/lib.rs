//! Pictures of plans and runs. Nothing here reads a clock, a file or a store: the same run is the same picture.
//!
//! ```text
//!  Plan, or Run ── items ──▶ groups: the content of each container, and the order within it
//!                    │ pick       as many nodes as a picture holds; the rest is counted, long loops by their iterations
//!                    ▼
//!                 Diagram ── Layout ──▶ boxes in boxes, lines that go downwards around them ── svg ──▶ text
//!                    └── tree ──▶ lines for a terminal
//!  Run and its suspensions ──▶ Timeline ── svg ──▶ text
//! ```
//!
//! Names are untrusted: all text in a picture is escaped, and cut to its place with the whole of it in a title.

mod arrange;
mod crossings;
mod diagram;
mod geometry;
mod item_name;
mod items;
mod iterations;
mod label;
mod layout;
mod legend;
mod markup;
mod model;
mod pick;
mod placement;
mod proportion;
mod rank;
mod readiness;
mod sign;
mod suspensions;
mod svg;
mod tally;
mod timeline;
mod tree;

pub use self::{
    diagram::Diagram,
    geometry::{Line, Piece, Rect},
    iterations::Iterations,
    label::{Kind, Label},
    layout::Layout,
    legend::{legend, swatch},
    model::{Edge, Limits, Node},
    proportion::proportion,
    sign::{colour, mark, phase_word},
    suspensions::Suspensions,
    svg::{SvgOptions, graph_svg, timeline_svg},
    tally::Tally,
    timeline::{Bar, BarKind, Row, Timeline},
    tree::tree,
};

/// The stylesheet of every picture: colours are custom properties, which a page may set otherwise.
pub const STYLE: &str = include_str!("style.css");
