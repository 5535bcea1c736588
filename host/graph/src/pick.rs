//! Choice of the nodes of a picture: containers are opened level by level while there is room, and the rest is counted.

use std::collections::{BTreeSet, VecDeque};

use phasm_engine::phase::Phase;

use crate::{
    items::{Group, Item, Source},
    iterations::{ClosedLoop, ORDINARY, importance},
    label::Label,
    model::{Edge, Limits, Node},
    rank::ranks,
    tally::Tally,
};

/// Nodes on one level of a container without edges.
const COLUMNS: usize = 4;
/// Iterations of a loop that are listed in its node.
const MAX_LISTED: usize = 5;

/// Nodes of a picture.
pub(crate) struct Selection {
    pub(crate) nodes: Vec<Node>,
    /// Number of lines beyond the limit.
    pub(crate) lines_left_out: usize,
}

/// Chooses the nodes of a picture.
pub(crate) fn pick(source: &Source<'_>, limits: Limits) -> Selection {
    let mut picker =
        Picker { source, limits, nodes: vec![Node::closed(Label::page(), 0)], lines_left_out: 0 };
    let mut queue = VecDeque::from([(0, None, source.top())]);
    while let Some((at, item, group)) = queue.pop_front() {
        let room = limits.boxes.saturating_sub(picker.nodes.len());
        if group.iterations > limits.alike {
            picker.close_loop(at, &group, room);
            continue;
        }
        let levels = levels(&group, limits);
        let is_root = picker.nodes.get(at).is_none_or(|node| at == 0 || node.parent == 0);
        if is_root || levels.iter().map(Vec::len).sum::<usize>() <= room {
            picker.open(at, &group, levels, &mut queue);
        } else if group.iterations > 0 {
            picker.close_loop(at, &group, room);
        } else if let Some(item) = item {
            picker.close(at, item);
        }
    }
    Selection { nodes: picker.nodes, lines_left_out: picker.lines_left_out }
}

/// Entry of a level: one node.
#[derive(Debug)]
enum Entry {
    /// One of the group.
    One(usize),
    /// Items that are not drawn.
    More(Vec<usize>),
}

/// Nodes whose content has yet to be chosen: number, item, content.
type Queue<'a> = VecDeque<(usize, Option<Item<'a>>, Group<'a>)>;

struct Picker<'s, 'a> {
    source: &'s Source<'a>,
    limits: Limits,
    nodes: Vec<Node>,
    lines_left_out: usize,
}

impl<'a> Picker<'_, 'a> {
    /// Adds the content of a node.
    fn open(&mut self, at: usize, group: &Group<'a>, levels: Vec<Vec<Entry>>, queue: &mut Queue<'a>) {
        let mut node_of = vec![(0, 0); group.items.len()];
        let mut numbers = Vec::with_capacity(levels.len());
        for (level, entries) in levels.into_iter().enumerate() {
            let mut row = Vec::with_capacity(entries.len());
            for entry in entries {
                let (number, stands_for) = self.add(at, group, entry, queue);
                row.push(number);
                for item in stands_for {
                    if let Some(slot) = node_of.get_mut(item) {
                        *slot = (level, number);
                    }
                }
            }
            numbers.push(row);
        }
        let edges = self.edges(&group.edges, &node_of);
        if let Some(open) = self.nodes.get_mut(at) {
            if open.label.phase != Some(Phase::Succeeded) {
                // The failure is said by the task that failed.
                open.label.detail.clear();
            }
            open.levels = numbers;
            open.edges = edges;
        }
    }

    /// Adds the node of an entry. Returns its number and the items it stands for.
    fn add(
        &mut self,
        parent: usize,
        group: &Group<'a>,
        entry: Entry,
        queue: &mut Queue<'a>,
    ) -> (usize, Vec<usize>) {
        let number = self.nodes.len();
        let item = |at: &usize| group.items.get(*at).copied();
        match entry {
            Entry::One(at) => {
                let mut node = Node::closed(Label::page(), parent);
                if let Some(item) = item(&at) {
                    node.label = self.source.label(item);
                    match self.source.inside(item) {
                        Some(inside) => queue.push_back((number, Some(item), inside)),
                        None => node.tally = self.source.tally(item),
                    }
                }
                self.nodes.push(node);
                (number, vec![at])
            }
            Entry::More(hidden) => {
                let mut tally = Tally::default();
                hidden.iter().filter_map(item).for_each(|item| tally.add(&self.source.tally(item)));
                let label = Label::more(hidden.len(), tally.summary());
                self.nodes.push(Node { tally, ..Node::closed(label, parent) });
                (number, hidden)
            }
        }
    }

    /// Leaves a loop closed, with its iterations counted, and those listed that failed or are suspended.
    fn close_loop(&mut self, at: usize, group: &Group<'a>, room: usize) {
        let Some(closed) = self.source.closed_loop(group, MAX_LISTED.min(room)) else { return };
        let ClosedLoop { iterations, rest, listed } = closed;
        let first = self.nodes.len();
        let rows = listed.into_iter().map(|(label, tally)| Node { tally, ..Node::closed(label, at) });
        self.nodes.extend(rows);
        let levels = (first..self.nodes.len()).map(|number| vec![number]).collect();
        if let Some(node) = self.nodes.get_mut(at) {
            let label = &mut node.label;
            label.detail = iterations.standing(label.phase.is_some_and(Phase::is_terminal));
            label.title = format!("{}\n{}", label.title, iterations.tally.summary_of("iteration"));
            node.levels = levels;
            node.tally = rest;
            node.iterations = Some(iterations);
        }
    }

    /// Leaves a node closed, with its content counted.
    fn close(&mut self, at: usize, item: Item<'a>) {
        let tally = self.source.tally(item);
        if let Some(node) = self.nodes.get_mut(at) {
            node.label.note = format!("{} · {}", node.label.kind.as_str(), tally.summary());
            node.label.title = format!("{}\n{}", node.label.title, tally.summary());
            node.tally = tally;
        }
    }

    /// Returns the edges between nodes, given the level and number of the node of each item.
    fn edges(&mut self, edges: &[Edge], node_of: &[(usize, usize)]) -> Vec<Edge> {
        let line = |edge: &Edge| {
            let (above, from) = *node_of.get(edge.from)?;
            let (below, to) = *node_of.get(edge.to)?;
            (above < below).then_some(Edge { from, to, hook: edge.hook })
        };
        let lines: BTreeSet<Edge> = edges.iter().filter_map(line).collect();
        self.lines_left_out += lines.len().saturating_sub(self.limits.lines);
        lines.into_iter().take(self.limits.lines).collect()
    }
}

/// Returns the entries of each level, with the items that are not drawn in one entry.
fn levels(group: &Group<'_>, limits: Limits) -> Vec<Vec<Entry>> {
    if group.edges.is_empty() {
        let max = if group.iterations > 0 { limits.alike } else { 2 * limits.across };
        let mut entries = abridge(group, (0..group.items.len()).collect(), max).into_iter().peekable();
        let mut levels = Vec::new();
        while entries.peek().is_some() {
            levels.push(entries.by_ref().take(COLUMNS).collect());
        }
        return levels;
    }
    let mut by_rank: Vec<Vec<usize>> = Vec::new();
    let ranks = ranks(group.items.len(), &group.edges);
    let last = ranks.iter().max().map_or(0, |last| last + 1);
    for (item, rank) in ranks.into_iter().enumerate() {
        let rank = if group.unreached.contains(&item) { last } else { rank };
        if by_rank.len() <= rank {
            by_rank.resize_with(rank + 1, Vec::new);
        }
        by_rank.get_mut(rank).into_iter().for_each(|items| items.push(item));
    }
    let below = if by_rank.len() > limits.down { by_rank.split_off(limits.down - 1) } else { Vec::new() };
    let mut levels: Vec<Vec<Entry>> =
        by_rank.into_iter().map(|items| abridge(group, items, limits.across)).collect();
    if !below.is_empty() {
        levels.push(vec![Entry::More(below.into_iter().flatten().collect())]);
    }
    levels
}

/// Returns at most `max` entries for the items: the most important ones, in their order, and the rest in one entry.
fn abridge(group: &Group<'_>, items: Vec<usize>, max: usize) -> Vec<Entry> {
    if items.len() <= max {
        return items.into_iter().map(Entry::One).collect();
    }
    let mut chosen = items;
    chosen.sort_by_key(|at| {
        group.items.get(*at).map_or(u8::MAX, |item| importance(Source::phase(*item)).min(ORDINARY))
    });
    let mut hidden = chosen.split_off(max.saturating_sub(1));
    chosen.sort_unstable();
    hidden.sort_unstable();
    chosen.into_iter().map(Entry::One).chain([Entry::More(hidden)]).collect()
}
