//! Places on one level: as near to where each wants to be as their order and the gaps between them allow.

/// One that wants a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    /// Where its middle wants to be.
    pub(crate) middle: f64,
    pub(crate) width: i32,
    /// How much it matters.
    pub(crate) weight: f64,
}

/// Neighbours that push each other, and so keep their distances.
struct Pushed {
    sum: f64,
    weight: f64,
    count: usize,
}

impl Pushed {
    fn at(&self) -> f64 {
        self.sum / self.weight
    }
}

/// The left edge of each: of all places in that order, with at least `gap` between them, those with the least squares of distances
/// from where they want to be.
pub(crate) fn settle(wishes: &[Wish], gap: i32) -> Vec<i32> {
    let mut blocks: Vec<Pushed> = Vec::with_capacity(wishes.len());
    for (wish, before) in wishes.iter().zip(before(wishes, gap)) {
        let left = wish.middle - f64::from(wish.width) / 2.0 - f64::from(before);
        let mut block = Pushed { sum: left * wish.weight, weight: wish.weight, count: 1 };
        while let Some(above) = blocks.pop_if(|above| above.at() > block.at()) {
            let Pushed { sum, weight, count } = above;
            block =
                Pushed { sum: sum + block.sum, weight: weight + block.weight, count: count + block.count };
        }
        blocks.push(block);
    }
    let lefts = blocks.iter().flat_map(|block| std::iter::repeat_n(whole(block.at()), block.count));
    lefts.zip(before(wishes, gap)).map(|(left, before)| left + before).collect()
}

/// The room that those before each of them take.
fn before(wishes: &[Wish], gap: i32) -> impl Iterator<Item = i32> {
    wishes.iter().scan(0, move |sum, wish| {
        let before = *sum;
        *sum += wish.width + gap;
        Some(before)
    })
}

/// To the nearest pixel.
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

    fn places(wishes: &[(f64, i32)]) -> Vec<i32> {
        let wishes: Vec<_> = wishes
            .iter()
            .map(|(middle, width)| Wish { middle: *middle, width: *width, weight: 1.0 })
            .collect();
        settle(&wishes, 10)
    }

    #[test]
    fn who_has_room_stands_where_it_wants() {
        assert_eq!(places(&[(50.0, 20), (150.0, 40)]), [40, 130]);
    }

    #[test]
    fn who_has_none_meets_in_the_middle() {
        assert_eq!(places(&[(50.0, 20), (50.0, 20)]), [25, 55]);
        assert_eq!(places(&[(90.0, 20), (10.0, 20), (300.0, 20)]), [25, 55, 290]);
    }
}
