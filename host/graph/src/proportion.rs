//! A bar with the proportions of phases.

use phasm_engine::phase::Phase;

use crate::{markup::Markup, tally::Tally};

/// Minimum width of a phase in the bar.
const MIN_SEGMENT: i32 = 2;

/// Returns the phases of the bar, each with its begin and its end. Each is visible, however few tasks have it.
pub(crate) fn segments(tally: &Tally, width: i32) -> Vec<(Phase, i32, i32)> {
    let phases: Vec<_> = tally.in_order().collect();
    let all = u128::from(tally.tasks().max(1));
    let count = i32::try_from(phases.len()).unwrap_or(i32::MAX);
    let room = u128::try_from(width - MIN_SEGMENT * count).unwrap_or(0);
    let (mut before, mut begin) = (0, 0);
    let segment = |(at, (phase, tasks)): (i32, (Phase, u64))| {
        before += u128::from(tasks);
        let end = MIN_SEGMENT * (at + 1) + i32::try_from(room * before / all).unwrap_or(0);
        let segment = (phase, begin, end);
        begin = end;
        segment
    };
    (0..).zip(phases).map(segment).collect()
}

/// Draws the bar alone, as wide as what it stands in. Its words have to stand beside it.
#[must_use]
pub fn proportion(tally: &Tally) -> String {
    let mut out = Markup::default();
    out.put(format_args!(
        "<svg class=\"phasm proportion\" viewBox=\"0 0 1000 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
    ));
    for (phase, begin, end) in segments(tally, 1000) {
        let width = end - begin;
        out.put(format_args!(
            "<rect class=\"phasm-bar phasm-{phase}\" x=\"{begin}\" y=\"0\" width=\"{width}\" height=\"8\"/>"
        ));
    }
    out.put(format_args!("</svg>"));
    out.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phase_of_a_bar_is_visible() {
        let mut tally = Tally::of(Phase::Succeeded, 9_998);
        tally.add(&Tally::of(Phase::Failed, 2));
        assert_eq!(segments(&tally, 300), [(Phase::Succeeded, 0, 297), (Phase::Failed, 297, 300)]);
        let all: Tally = Phase::ALL.into_iter().collect();
        let segments = segments(&all, 300);
        assert_eq!((segments.len(), segments.last().map(|last| last.2)), (10, Some(300)));
        assert!(segments.iter().all(|(_, begin, end)| begin + MIN_SEGMENT <= *end));
        assert!(proportion(&Tally::default()).ends_with("></svg>"));
    }
}
