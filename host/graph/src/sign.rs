//! A sign and a word for each phase, so that phases can be told apart without colours.

use phasm_engine::phase::Phase;

use crate::STYLE;

/// The lines of a phase's sign, on a disc with 14 pixels across.
pub(crate) const fn sign(phase: Phase) -> &'static str {
    match phase {
        Phase::Created => "",
        Phase::Ready => "M7 7h.01",
        Phase::Running => "M5.6 4.4v5.2l4-2.6z",
        Phase::Suspended => "M5.4 4.6v4.8M8.6 4.6v4.8",
        Phase::Succeeded => "M4 7.3l2.1 2.1L10.2 5",
        Phase::Failed => "M4.7 4.7l4.6 4.6M9.3 4.7l-4.6 4.6",
        Phase::Error => "M7 3.6v4M7 10.2v.01",
        Phase::Timeout => "M7 3.8v3.4l2.4 1.4",
        Phase::Skipped => "M3.8 4.7L6.4 7 3.8 9.3M7.4 4.7L10 7 7.4 9.3",
        Phase::Cancelled => "M4.4 9.6l5.2-5.2",
    }
}

/// Returns the word for a phase in pictures and on pages: the meaning of the two phases whose names do not tell it.
#[must_use]
pub fn phase_word(phase: Phase) -> &'static str {
    match phase {
        Phase::Created => "Not started",
        Phase::Suspended => "Waiting for approval",
        Phase::Ready
        | Phase::Running
        | Phase::Succeeded
        | Phase::Failed
        | Phase::Error
        | Phase::Timeout
        | Phase::Skipped
        | Phase::Cancelled => phase.as_str(),
    }
}

/// The sign of a phase, of which its surroundings say the word: an element of its own, for a page with the stylesheet.
#[must_use]
pub fn mark(phase: Phase) -> String {
    format!(
        "<svg class=\"phasm phasm-mark phasm-{phase}\" viewBox=\"0 0 14 14\" width=\"14\" height=\"14\" aria-hidden=\"true\" \
         focusable=\"false\">{}</svg>",
        disc(phase, 0, 0)
    )
}

/// Returns the colour of a phase on a light ground, as the stylesheet has it: `#1d7a3e`.
#[must_use]
pub fn colour(phase: Phase) -> &'static str {
    let name = format!("--phasm-{}: ", phase.as_str().to_ascii_lowercase());
    let rest = STYLE.split_once(&name).map_or("", |(_, rest)| rest);
    rest.split_once(';').map_or("#6f7888", |(colour, _)| colour)
}

/// The sign with its upper left corner there.
pub(crate) fn disc(phase: Phase, x: i32, y: i32) -> String {
    format!(
        "<g class=\"phasm-sign\" transform=\"translate({x} {y})\"><circle cx=\"7\" cy=\"7\" r=\"6.2\"/><path d=\"{}\"/></g>",
        sign(phase)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phase_has_a_colour() {
        for phase in Phase::ALL {
            let colour = colour(phase);
            assert!(colour.len() == 7 && colour.starts_with('#'), "{phase}: {colour}");
        }
        assert_ne!(colour(Phase::Succeeded), colour(Phase::Failed));
    }
}
