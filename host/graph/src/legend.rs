//! Legend of a timeline: each kind of bar, and its meaning in words.

/// Returns the classes of the bars of a timeline, each with the word for its meaning.
#[must_use]
pub const fn legend() -> &'static [(&'static str, &'static str)] {
    &[
        ("phasm-bar-attempt", "attempt, in the colour of its phase"),
        ("phasm-bar-queue", "queued"),
        ("phasm-bar-retry", "retry delay"),
        ("phasm-bar-suspension", "waiting for approval"),
    ]
}

/// Draws a bar of a class of the legend: an element of its own, for a page with the stylesheet.
#[must_use]
pub fn swatch(class: &str) -> String {
    let (phase, bar) = match class {
        "phasm-bar-queue" | "phasm-bar-retry" => ("Created", "<line x1=\"2\" x2=\"26\" y1=\"7\" y2=\"7\""),
        "phasm-bar-suspension" => ("Suspended", BOX),
        _ => ("Running", BOX),
    };
    let class = crate::markup::escaped(class);
    format!(
        "<svg class=\"phasm phasm-swatch phasm-{phase}\" viewBox=\"0 0 28 14\" width=\"28\" height=\"14\" aria-hidden=\"true\" \
         focusable=\"false\">{bar} class=\"phasm-bar {class}\"/></svg>"
    )
}

/// Begin of a bar of a swatch.
const BOX: &str = "<rect x=\"2\" y=\"2\" width=\"24\" height=\"10\" rx=\"2\"";

#[cfg(test)]
mod tests {
    use super::*;

    /// Swatches are told apart by the classes that the stylesheet knows.
    #[test]
    fn each_bar_of_the_legend_has_a_style() {
        for (class, word) in legend() {
            assert!(crate::STYLE.contains(&format!(".{class} {{")), "{class} ({word})");
            assert!(swatch(class).contains(class), "{class}");
        }
        assert!(!swatch("\"><b>").contains("<b>"));
    }
}
