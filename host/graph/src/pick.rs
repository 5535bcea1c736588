//! Choice of the boxes of a picture: containers are opened level by level while there is room, and the rest is counted.

use std::collections::{BTreeSet, VecDeque};

use phasm_engine::phase::Phase;

use crate::{
    diagram::{Follows, Limits, Shown},
    items::{After, Group, Item, Source},
    look::Look,
    rank::ranks,
    tally::Tally,
};

/// Boxes beside each other where nothing follows anything.
const COLUMNS: usize = 6;

/// The boxes, and how many lines were too many.
pub(crate) fn pick(source: &Source<'_>, limits: Limits) -> (Vec<Shown>, usize) {
    let mut picking = Picking { source, limits, boxes: vec![shut(Look::page(), 0)], left_out: 0 };
    let mut ahead = VecDeque::from([(0, None, source.top())]);
    while let Some((at, item, group)) = ahead.pop_front() {
        let levels = levels(&group, limits);
        let room = limits.boxes.saturating_sub(picking.boxes.len());
        let is_root = picking.boxes.get(at).is_none_or(|shown| at == 0 || shown.parent == 0);
        if is_root || levels.iter().map(Vec::len).sum::<usize>() <= room {
            picking.open(at, &group, levels, &mut ahead);
        } else if let Some(item) = item {
            picking.close(at, item);
        }
    }
    (picking.boxes, picking.left_out)
}

fn shut(look: Look, parent: usize) -> Shown {
    Shown { look, parent, levels: Vec::new(), follows: Vec::new(), tally: Tally::default() }
}

/// Entry of a level: one box.
#[derive(Debug)]
enum Entry {
    /// One of the group.
    One(usize),
    /// Items that are not drawn.
    More(Vec<usize>),
}

type Ahead<'a> = VecDeque<(usize, Option<Item<'a>>, Group<'a>)>;

struct Picking<'s, 'a> {
    source: &'s Source<'a>,
    limits: Limits,
    boxes: Vec<Shown>,
    left_out: usize,
}

impl<'a> Picking<'_, 'a> {
    /// Draws what is in a box.
    fn open(&mut self, at: usize, group: &Group<'a>, levels: Vec<Vec<Entry>>, ahead: &mut Ahead<'a>) {
        let mut box_of = vec![(0, 0); group.items.len()];
        let mut shown = Vec::with_capacity(levels.len());
        for (level, entries) in levels.into_iter().enumerate() {
            let mut row = Vec::with_capacity(entries.len());
            for entry in entries {
                let (number, stands_for) = self.draw(at, group, entry, ahead);
                row.push(number);
                for item in stands_for {
                    if let Some(slot) = box_of.get_mut(item) {
                        *slot = (level, number);
                    }
                }
            }
            shown.push(row);
        }
        let follows = self.follows(&group.after, &box_of);
        if let Some(open) = self.boxes.get_mut(at) {
            (open.levels, open.follows) = (shown, follows);
        }
    }

    /// Adds the box of an entry; its number, and the items it stands for.
    fn draw(
        &mut self,
        parent: usize,
        group: &Group<'a>,
        entry: Entry,
        ahead: &mut Ahead<'a>,
    ) -> (usize, Vec<usize>) {
        let number = self.boxes.len();
        let item = |at: &usize| group.items.get(*at).copied();
        match entry {
            Entry::One(at) => {
                let mut shown = shut(Look::page(), parent);
                if let Some(item) = item(&at) {
                    shown.look = self.source.look(item);
                    match self.source.inside(item) {
                        Some(inside) => ahead.push_back((number, Some(item), inside)),
                        None => shown.tally = self.source.tally(item),
                    }
                }
                self.boxes.push(shown);
                (number, vec![at])
            }
            Entry::More(hidden) => {
                let mut tally = Tally::default();
                hidden.iter().filter_map(item).for_each(|item| tally.add(&self.source.tally(item)));
                let look = Look::more(hidden.len(), tally.told());
                self.boxes.push(Shown { tally, ..shut(look, parent) });
                (number, hidden)
            }
        }
    }

    /// Leaves a box shut, with what is in it counted.
    fn close(&mut self, at: usize, item: Item<'a>) {
        let tally = self.source.tally(item);
        if let Some(shown) = self.boxes.get_mut(at) {
            shown.look.note = format!("{} · {}", shown.look.kind.as_str(), tally.told());
            shown.look.title = format!("{}\n{}", shown.look.title, tally.told());
            shown.tally = tally;
        }
    }

    /// The lines between boxes, each of which is the (level, number) of its items.
    fn follows(&mut self, after: &[After], box_of: &[(usize, usize)]) -> Vec<Follows> {
        let line = |after: &After| {
            let (above, from) = *box_of.get(after.from)?;
            let (below, to) = *box_of.get(after.to)?;
            (above < below).then_some(Follows { from, to, hook: after.hook })
        };
        let lines: BTreeSet<Follows> = after.iter().filter_map(line).collect();
        self.left_out += lines.len().saturating_sub(self.limits.lines);
        lines.into_iter().take(self.limits.lines).collect()
    }
}

/// Returns the entries of each level, with the items that are not drawn in one entry.
fn levels(group: &Group<'_>, limits: Limits) -> Vec<Vec<Entry>> {
    if group.after.is_empty() {
        let mut entries = few(group, (0..group.items.len()).collect(), limits.alike).into_iter().peekable();
        let mut levels = Vec::new();
        while entries.peek().is_some() {
            levels.push(entries.by_ref().take(COLUMNS).collect());
        }
        return levels;
    }
    let mut by_rank: Vec<Vec<usize>> = Vec::new();
    for (item, rank) in ranks(group.items.len(), &group.after).into_iter().enumerate() {
        if by_rank.len() <= rank {
            by_rank.resize_with(rank + 1, Vec::new);
        }
        by_rank.get_mut(rank).into_iter().for_each(|items| items.push(item));
    }
    let below = if by_rank.len() > limits.down { by_rank.split_off(limits.down - 1) } else { Vec::new() };
    let mut levels: Vec<Vec<Entry>> =
        by_rank.into_iter().map(|items| few(group, items, limits.across)).collect();
    if !below.is_empty() {
        levels.push(vec![Entry::More(below.into_iter().flatten().collect())]);
    }
    levels
}

/// At most so many entries for the items: those that one looks for first, in their order.
fn few(group: &Group<'_>, items: Vec<usize>, most: usize) -> Vec<Entry> {
    if items.len() <= most {
        return items.into_iter().map(Entry::One).collect();
    }
    let mut wanted = items;
    wanted.sort_by_key(|at| group.items.get(*at).map_or(u8::MAX, |item| interest(Source::phase(*item))));
    let mut hidden = wanted.split_off(most.saturating_sub(1));
    wanted.sort_unstable();
    hidden.sort_unstable();
    wanted.into_iter().map(Entry::One).chain([Entry::More(hidden)]).collect()
}

/// Returns the order in which phases are drawn when there is no room for all; failures come first.
fn interest(phase: Phase) -> u8 {
    match phase {
        Phase::Failed | Phase::Error | Phase::Timeout => 0,
        Phase::Suspended => 1,
        Phase::Running => 2,
        Phase::Ready | Phase::Created | Phase::Succeeded | Phase::Skipped | Phase::Cancelled => 3,
    }
}
