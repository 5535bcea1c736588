//! Combinations of `strategy.matrix`.

use crate::{fields::Field, names::parameter, yaml::Output};

/// Combinations that a matrix has at most.
const MAX_COMBINATIONS: usize = 256;

type Combination = Vec<(String, Output)>;

/// Returns the combinations of a matrix; none if they are not written as lists.
pub(super) fn combinations(
    matrix: &Field<'_>,
    text: &mut dyn FnMut(&Field<'_>, &str) -> Output,
) -> Option<Vec<Output>> {
    let mut all: Vec<Combination> = vec![Vec::new()];
    let mut axes = Vec::new();
    for (name, field) in matrix.members() {
        if name == "include" || name == "exclude" {
            continue;
        }
        let values = field.items();
        if values.is_empty() || values.len().checked_mul(all.len())? > MAX_COMBINATIONS {
            return None;
        }
        let name = parameter(name);
        let values: Vec<Output> = values.iter().map(|value| value.value(text)).collect();
        all = all
            .iter()
            .flat_map(|combination| {
                values.iter().map(|value| [combination.as_slice(), &[(name.clone(), value.clone())]].concat())
            })
            .collect();
        axes.push(name);
    }
    if axes.is_empty() {
        all.clear();
    }
    for excluded in list(matrix, "exclude", text)? {
        all.retain(|combination| !excluded.iter().all(|pair| combination.contains(pair)));
    }
    let count = all.len();
    for included in list(matrix, "include", text)? {
        let fits = |combination: &Combination| {
            included.iter().filter(|(name, _)| axes.contains(name)).all(|pair| combination.contains(pair))
        };
        let mut has_fitted = false;
        for combination in all.iter_mut().take(count).filter(|combination| fits(combination)) {
            has_fitted = true;
            for (name, value) in &included {
                combination.retain(|(other, _)| other != name);
                combination.push((name.clone(), value.clone()));
            }
        }
        if !has_fitted {
            all.push(included);
        }
    }
    (all.len() <= MAX_COMBINATIONS).then(|| all.into_iter().map(Output::Map).collect())
}

/// Returns the objects of `include` or `exclude`; none if these are not a list of some.
fn list(
    matrix: &Field<'_>,
    key: &str,
    text: &mut dyn FnMut(&Field<'_>, &str) -> Output,
) -> Option<Vec<Combination>> {
    let Some(field) = matrix.get(key) else { return Some(Vec::new()) };
    let items = field.items();
    if items.is_empty() || items.len() > MAX_COMBINATIONS {
        return None;
    }
    let pairs = |item: &Field<'_>, text: &mut dyn FnMut(&Field<'_>, &str) -> Output| -> Combination {
        item.members().into_iter().map(|(name, value)| (parameter(name), value.value(text))).collect()
    };
    Some(items.iter().map(|item| pairs(item, text)).collect())
}
