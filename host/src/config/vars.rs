//! `[vars]`: values for expressions.

use phasm_engine::value::Map;

use super::fields::Table;

pub(super) fn read(table: &Table<'_>) -> Map {
    table.members.iter().map(|(key, tree)| (key.name.clone(), tree.to_value())).collect()
}
