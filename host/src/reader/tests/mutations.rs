//! Documents with parts removed, replaced and exchanged: whatever they have become, they are a plan or have a problem.

use std::{
    fs,
    path::PathBuf,
    sync::{Arc, LazyLock},
};

use phasm_engine::{
    problem::codes,
    tree::{Tree, TreeNode},
    value::Value,
};
use proptest::{prelude::*, sample::Index};

use super::*;

/// All golden documents.
static CORPUS: LazyLock<Vec<Tree>> = LazyLock::new(|| {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "src", "reader", "tests", "problems"].iter().collect();
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    paths.iter().filter_map(|path| read("x", &fs::read_to_string(path).unwrap()).ok()).collect()
});

#[derive(Clone, Debug)]
enum Change {
    Remove,
    Replace(String),
    Rename(String),
    /// With another value of the same document.
    Exchange(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let word = "main|work|a|b|tasks.a.code == 0|inputs.parameters.x|\\{\\{ loop.index-1 \\}\\}|1s|0|none|[a-z]{0,3}|\\PC{0,6}";
    let json = prop_oneof![
        Just("null".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
        Just("true".to_owned()),
        Just("-1".to_owned()),
        Just("1e308".to_owned()),
        word.prop_map(|word| serde_json::to_string(&word).unwrap()),
    ];
    let field = "template|executor|name|tasks|items|sequence|retry|policy|when|else|then|hooks|body|dag|loop|task|pipeline|x";
    prop_oneof![
        Just(Change::Remove),
        json.prop_map(Change::Replace),
        field.prop_map(Change::Rename),
        any::<Index>().prop_map(Change::Exchange),
    ]
}

/// Every value of the tree, in document order.
fn values(tree: &Tree) -> Vec<Tree> {
    let mut all = vec![tree.clone()];
    match &tree.node {
        TreeNode::Array(items) => items.iter().for_each(|item| all.extend(values(item))),
        TreeNode::Object(members) => members.iter().for_each(|(_, value)| all.extend(values(value))),
        TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) | TreeNode::String(_) => {}
    }
    all
}

/// Applies `change` to the value number `at`, counted as in [`values`]; tells how many were passed.
fn apply(tree: &mut Tree, at: usize, change: &Change, other: &[Tree]) -> usize {
    let mut passed = 1;
    match &mut tree.node {
        TreeNode::Array(items) => {
            let mut index = 0;
            while index < items.len() {
                if passed == at && matches!(change, Change::Remove) {
                    items.remove(index);
                    return usize::MAX / 2;
                }
                passed += apply(&mut items[index], at.wrapping_sub(passed), change, other);
                index += 1;
            }
        }
        TreeNode::Object(members) => {
            let mut index = 0;
            while index < members.len() {
                if passed == at && matches!(change, Change::Remove) {
                    members.remove(index);
                    return usize::MAX / 2;
                }
                if let (true, Change::Rename(name)) = (passed == at, change) {
                    members[index].0.name = Arc::from(name.as_str());
                    return usize::MAX / 2;
                }
                passed += apply(&mut members[index].1, at.wrapping_sub(passed), change, other);
                index += 1;
            }
        }
        TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) | TreeNode::String(_) => {}
    }
    if at == 0 {
        match change {
            Change::Replace(json) => tree.node = Tree::from(&Value::from_json(json).unwrap()).node,
            Change::Exchange(index) => *tree = index.get(other).clone(),
            Change::Remove | Change::Rename(_) => {}
        }
    }
    passed
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn every_document_is_a_plan_or_has_problems(
        document in any::<Index>(),
        changes in prop::collection::vec((any::<Index>(), change()), 1..4),
    ) {
        let mut tree = document.get(&CORPUS).clone();
        for (at, change) in changes {
            let all = values(&tree);
            apply(&mut tree, at.index(all.len()), &change, &all);
        }
        let depth_is_bounded = values(&tree).len() < 100_000;
        prop_assume!(depth_is_bounded);
        match Draft::read(&tree).plan(&Executors::any(), &Value::Null) {
            Ok(plan) => prop_assert!(plan.warnings.iter().all(|warning| warning.code.starts_with('W'))),
            Err(problems) => {
                prop_assert!(!problems.is_empty(), "{}", tree.to_value());
                for problem in problems {
                    prop_assert!(problem.code.starts_with('P') && codes::find(problem.code).is_some());
                    let of_a_text = ["P030", "P040", "P080"].contains(&problem.code);
                    prop_assert!(problem.message.contains(';') || of_a_text, "{problem:?}");
                }
            }
        }
    }
}
