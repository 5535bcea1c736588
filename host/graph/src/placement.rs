//! Places on one level: each as near to its preferred place as the order and the gaps between them allow.
//!
//! This is isotonic regression by the pool-adjacent-violators algorithm.

/// Preferred place of a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Preference {
    /// Preferred place of the cell's middle.
    pub(crate) middle: f64,
    pub(crate) width: i32,
    /// Weight of the cell's distance from that place.
    pub(crate) weight: f64,
}

/// Neighbours that touch, and move as one.
struct Block {
    sum: f64,
    weight: f64,
    count: usize,
}

impl Block {
    fn at(&self) -> f64 {
        self.sum / self.weight
    }
}

/// Returns the left edge of each cell. The places keep the order, leave at least `gap` between cells, and minimise the weighted
/// squares of the distances from the preferred places.
pub(crate) fn place(preferences: &[Preference], gap: i32) -> Vec<i32> {
    let mut blocks: Vec<Block> = Vec::with_capacity(preferences.len());
    for (preference, before) in preferences.iter().zip(before(preferences, gap)) {
        let left = preference.middle - f64::from(preference.width) / 2.0 - f64::from(before);
        let mut block = Block { sum: left * preference.weight, weight: preference.weight, count: 1 };
        while let Some(above) = blocks.pop_if(|above| above.at() > block.at()) {
            block.sum += above.sum;
            block.weight += above.weight;
            block.count += above.count;
        }
        blocks.push(block);
    }
    let lefts = blocks.iter().flat_map(|block| std::iter::repeat_n(whole(block.at()), block.count));
    lefts.zip(before(preferences, gap)).map(|(left, before)| left + before).collect()
}

/// Returns the room that the cells before each one take.
fn before(preferences: &[Preference], gap: i32) -> impl Iterator<Item = i32> {
    preferences.iter().scan(0, move |sum, preference| {
        let before = *sum;
        *sum += preference.width + gap;
        Some(before)
    })
}

/// Rounds to the nearest pixel.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a picture is some thousand pixels wide; a cast saturates"
)]
fn whole(place: f64) -> i32 {
    place.round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(preferences: &[(f64, i32)]) -> Vec<i32> {
        let preferences: Vec<_> = preferences
            .iter()
            .map(|(middle, width)| Preference { middle: *middle, width: *width, weight: 1.0 })
            .collect();
        place(&preferences, 10)
    }

    #[test]
    fn cells_with_room_get_their_preferred_places() {
        assert_eq!(places(&[(50.0, 20), (150.0, 40)]), [40, 130]);
    }

    #[test]
    fn cells_without_room_meet_in_the_middle() {
        assert_eq!(places(&[(50.0, 20), (50.0, 20)]), [25, 55]);
        assert_eq!(places(&[(90.0, 20), (10.0, 20), (300.0, 20)]), [25, 55, 290]);
    }
}
