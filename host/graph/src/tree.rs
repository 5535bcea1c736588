//! A diagram as text, for a terminal.

use crate::{
    diagram::{Diagram, Shown},
    markup::{cells, clipped},
};

/// Letters of a name.
const LONGEST: usize = 60;
/// Names of what a box follows.
const MOST_NAMED: usize = 4;

impl Diagram {
    /// A line for each box, indented as it stands in others: its name, what it says, and what it follows.
    ///
    /// Names are not escaped: the caller removes control characters before it prints them.
    #[must_use]
    pub fn text(&self) -> String {
        let read = self.read();
        let label = |at: usize, depth: usize| {
            let name = self.boxes.get(at).map(|shown| clipped(&shown.look.name, LONGEST));
            format!("{}{}", "  ".repeat(depth), name.unwrap_or_default())
        };
        let labels: Vec<_> = read.iter().map(|(at, depth)| label(*at, *depth)).collect();
        let widest = labels.iter().map(|label| cells(label)).max().unwrap_or(0);
        let line = |((at, _), label): (&(usize, usize), &String)| {
            let pad = " ".repeat(widest - cells(label));
            let shown = self.boxes.get(*at);
            let (note, after) = (shown.map_or("", |shown| &shown.look.note), self.after(*at));
            format!("{label}{pad}  {note}{after}").trim_end().to_owned() + "\n"
        };
        read.iter().zip(&labels).map(line).collect()
    }

    /// Returns the names of the boxes that a box follows.
    fn after(&self, at: usize) -> String {
        let name = |at: usize| self.boxes.get(at).map_or("", |shown| shown.look.name.as_str());
        let around: Option<&Shown> = self.boxes.get(at).and_then(|shown| self.boxes.get(shown.parent));
        let follows = around.into_iter().flat_map(|around| &around.follows);
        let before: Vec<_> =
            follows.filter(|follows| follows.to == at).map(|follows| name(follows.from)).collect();
        let more = if before.len() > MOST_NAMED { ", …" } else { "" };
        let named = before.into_iter().take(MOST_NAMED).collect::<Vec<_>>().join(", ");
        if named.is_empty() { named } else { format!("  after {named}{more}") }
    }
}
