//! Circles of files: each needs the next, and the last needs the first.
//!
//! A file needs another when it names one of its items, by `use` or by a path, through re-exports too; or when it calls a method of
//! an `impl` block that stands outside the folder of its type, which needs no import. A folder's file and the files in the folder
//! are one: an arrow between them counts only on the way into the folder, and never closes a circle of the two alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
};

use super::{
    modules::Modules,
    tokens::{blocks, calls, functions, paths, tokens},
};

/// Files that need each other.
#[derive(Clone, Debug)]
pub struct Circle {
    /// Paths below the repository's root.
    pub files: Vec<String>,
    /// `file -> file: item` for each need inside the circle.
    pub arrows: Vec<String>,
}

/// How the files of a crate need each other.
#[derive(Clone, Debug)]
pub struct Needs {
    /// Circles of files.
    pub circles: Vec<Circle>,
    /// `impl` blocks that stand outside the folder of their type, as `file: Type of file`.
    pub blocks_outside: Vec<String>,
}

/// Reads the crate whose sources are in `folder`, a path below `root`.
///
/// # Errors
/// A file cannot be read.
pub fn needs(root: &Path, folder: &str) -> io::Result<Needs> {
    let modules = Modules::read(root, folder)?;
    let outside = outside(&modules);
    let circles = components(&modules, &arrows(&modules, &outside));
    let file = |at: usize| modules.get(at).map_or("", |module| module.file.as_str());
    let shown = |block: &Outside| format!("{}: {} of {}", file(block.at), block.name, file(block.home));
    Ok(Needs { circles, blocks_outside: outside.iter().map(shown).collect() })
}

/// The item that makes a file need another, for each of the files that it needs.
type Arrows = Vec<BTreeMap<usize, String>>;

fn arrows(modules: &Modules, outside: &[Outside]) -> Arrows {
    let mut found: Arrows = modules.all().iter().map(|_| BTreeMap::new()).collect();
    let hidden = hidden_methods(modules, outside);
    for (from, (module, arrows)) in modules.all().iter().zip(&mut found).enumerate() {
        let tokens = tokens(&module.code);
        let named = module.imports().iter().map(|import| import.path.clone()).chain(paths(&tokens));
        for path in named {
            if let Some(to) = modules.definer(from, &path) {
                arrows.entry(to).or_insert_with(|| path.join("::"));
            }
        }
        for method in calls(&tokens) {
            if let Some(to) = hidden.get(&method) {
                arrows.entry(*to).or_insert_with(|| format!(".{method}()"));
            }
        }
        // A file in a folder may use its folder's file.
        arrows.retain(|to, _| modules.get(*to).is_some_and(|other| !module.path.starts_with(&other.path)));
    }
    found
}

/// An `impl` block outside the folder of its type.
struct Outside {
    at: usize,
    home: usize,
    name: String,
    methods: Vec<String>,
}

fn outside(modules: &Modules) -> Vec<Outside> {
    let mut found = Vec::new();
    for (at, module) in modules.all().iter().enumerate() {
        for block in blocks(&tokens(&module.code)) {
            let Some(home) =
                modules.definer(at, &block.path).and_then(|home| Some((home, modules.get(home)?)))
            else {
                continue;
            };
            let folder = match home.1.path.split_last() {
                Some((_, folder)) if !folder.is_empty() => folder,
                _ => home.1.path.as_slice(),
            };
            if !module.path.starts_with(folder) {
                found.push(Outside { at, home: home.0, name: block.path.join("::"), methods: block.methods });
            }
        }
    }
    found
}

/// The methods of blocks outside their type's folder by name, where that is the only function of this name.
fn hidden_methods(modules: &Modules, outside: &[Outside]) -> BTreeMap<String, usize> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for name in modules.all().iter().flat_map(|module| functions(&tokens(&module.code))) {
        *times.entry(name).or_default() += 1;
    }
    let methods =
        outside.iter().flat_map(|block| block.methods.iter().map(|method| (method.clone(), block.at)));
    methods.filter(|(method, _)| times.get(method) == Some(&1)).collect()
}

/// Groups of files that reach each other.
fn components(modules: &Modules, arrows: &Arrows) -> Vec<Circle> {
    let reach: Vec<BTreeSet<usize>> = (0..arrows.len()).map(|from| reachable(arrows, from)).collect();
    let reaches = |from: usize, to: usize| reach.get(from).is_some_and(|reached| reached.contains(&to));
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for from in 0..arrows.len() {
        let members: Vec<usize> =
            (from..arrows.len()).filter(|to| reaches(from, *to) && reaches(*to, from)).collect();
        if members.len() > 1 && seen.is_disjoint(&members.iter().copied().collect()) {
            seen.extend(members.iter().copied());
            found.push(circle(modules, arrows, &members));
        }
    }
    found
}

fn reachable(arrows: &Arrows, from: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        let next = arrows.get(at).into_iter().flat_map(BTreeMap::keys);
        open.extend(next.filter(|to| reached.insert(**to)));
    }
    reached
}

fn circle(modules: &Modules, arrows: &Arrows, members: &[usize]) -> Circle {
    let file = |at: usize| modules.get(at).map_or_else(String::new, |module| module.file.clone());
    let mut shown = Vec::new();
    for from in members {
        let inside = arrows.get(*from).into_iter().flatten().filter(|(to, _)| members.contains(to));
        shown.extend(inside.map(|(to, item)| format!("{} -> {}: {item}", file(*from), file(*to))));
    }
    Circle { files: members.iter().map(|at| file(*at)).collect(), arrows: shown }
}

#[cfg(test)]
mod tests {
    use super::super::modules::Module;
    use super::*;

    /// The circles of a crate of these modules, as `a b` each.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let module = |(path, text): &(&str, &str)| {
            let names = path.split("::").filter(|name| !name.is_empty()).map(ToOwned::to_owned).collect();
            Module::new(names, (*path).to_owned(), text)
        };
        let modules = Modules::new(files.iter().map(module).collect());
        components(&modules, &arrows(&modules, &outside(&modules)))
            .iter()
            .map(|circle| circle.files.join(" "))
            .collect()
    }

    const NONE: [&str; 0] = [];

    #[test]
    fn uses_close_a_circle() {
        let of = |c: &'static str| {
            [("", ""), ("a", "use crate::b::{B, X};"), ("b", "use super::c;\nfn f() { c::g() }"), ("c", c)]
        };
        assert_eq!(found(&of("fn g() {}")), NONE);
        assert_eq!(found(&of("use crate::a::A; fn g() {}")), ["a b c"]);
        assert_eq!(found(&of("// crate::a::A\nfn g() { h(\"crate::a::A\") }")), NONE);
        assert_eq!(found(&of("fn g() {}\n#[cfg(test)]\nmod tests { use crate::a::A; }")), NONE);
    }

    #[test]
    fn paths_close_a_circle() {
        assert_eq!(
            found(&[("", ""), ("a", "fn f(x: crate::b::B) {}"), ("b", "struct B(super::a::A);")]),
            ["a b"]
        );
    }

    #[test]
    fn re_exports_are_seen_through() {
        let root = "mod a; mod b; pub use a::A; pub use b::*;";
        assert_eq!(
            found(&[("", root), ("a", "use crate::B; pub struct A;"), ("b", "use crate::A; pub struct B;")]),
            ["a b"]
        );
        // What an import brings is that of the other file, not the importer's.
        let a = "use crate::c::C; pub struct A;";
        assert_eq!(found(&[("", ""), ("a", a), ("b", "use crate::a::C;"), ("c", "pub struct C;")]), NONE);
    }

    #[test]
    fn a_folder_and_its_files_are_one() {
        let files =
            [("", ""), ("a", "mod x; use x::X; pub struct A;"), ("a::x", "use super::A; pub struct X;")];
        assert_eq!(found(&files), NONE);
        let siblings = [
            ("", ""),
            ("a", "mod x; mod y;"),
            ("a::x", "use super::y::Y; struct X;"),
            ("a::y", "use super::x::X; struct Y;"),
        ];
        assert_eq!(found(&siblings), ["a::x a::y"]);
        // By way of the folder's file, siblings are the folder's.
        let by_folder = ("a", "mod x; mod y; pub use x::X; pub use y::Y;");
        let types = [("a::x", "use super::Y; pub struct X(Y);"), ("a::y", "use super::X; pub struct Y(X);")];
        assert_eq!(found(&[("", ""), by_folder, types[0], types[1]]), NONE);
        // A third file closes a circle with the folder.
        let b = [("b", "use crate::a::A;\npub struct B;"), ("a::x", "use crate::b::B; pub struct X;")];
        assert_eq!(found(&[files[0], files[1], b[0], b[1]]), ["a b a::x"]);
    }

    #[test]
    fn methods_outside_the_folder_of_their_type_are_needs() {
        let core = ("core", "pub struct Core;");
        let load = (
            "load",
            "use crate::{core::Core, drive::Driver}; impl Core { pub(crate) async fn reach(&self) {} }",
        );
        let drive = ("drive", "use crate::core::Core; pub struct Driver; fn f(core: &Core) { core.reach() }");
        assert_eq!(found(&[("", ""), core, load, drive]), ["load drive"]);
        // Two methods of this name: which is called is not known.
        let two = ("two", "struct T; impl T { fn reach(&self) {} }");
        assert_eq!(found(&[("", ""), core, load, drive, two]), NONE);
        // In the folder of its type it is part of the type.
        let inside =
            ("core::load", "use crate::{core::Core, drive::Driver}; impl Core { pub fn reach(&self) {} }");
        assert_eq!(found(&[("", ""), core, inside, drive]), NONE);
    }
}
