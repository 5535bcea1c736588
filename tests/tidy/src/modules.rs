//! The modules of a crate, and where a path leads.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
};

use super::{
    source::{code, files, is_test, without_tests},
    tokens::{self, Import},
};

/// Re-exports lead to each other this often at most.
const MAX_DETOURS: usize = 12;

/// A module with a file of its own.
pub(super) struct Module {
    /// Names from the crate's root, which has none.
    pub(super) path: Vec<String>,
    /// Path of the file below the repository's root.
    pub(super) file: String,
    /// Production code without comments and literals.
    pub(super) code: String,
    imports: Vec<Import>,
    definitions: BTreeSet<String>,
}

impl Module {
    /// A module of the file at `file`, whose text is `text`.
    pub(super) fn new(path: Vec<String>, file: String, text: &str) -> Self {
        let (code, _) = without_tests(&code(text));
        let tokens = tokens::tokens(&code);
        let (imports, definitions) = (tokens::imports(&tokens), tokens::definitions(&tokens));
        Self { path, file, imports, definitions: definitions.into_iter().collect(), code }
    }

    pub(super) fn imports(&self) -> &[Import] {
        &self.imports
    }
}

/// How a path is followed.
#[derive(Clone, Copy)]
struct Walk {
    /// The module that names it.
    origin: usize,
    /// Re-exports that may still be followed.
    detours: usize,
}

/// All modules of a crate, tests apart.
pub(super) struct Modules {
    all: Vec<Module>,
    by_path: BTreeMap<Vec<String>, usize>,
}

impl Modules {
    /// Reads the crate whose sources are in `folder`, a path below `root`.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn read(root: &Path, folder: &str) -> io::Result<Self> {
        let sources = files(root, folder, &["rs"])?;
        let mut of_tests: BTreeSet<Vec<String>> = BTreeSet::new();
        let mut all = Vec::new();
        for source in
            sources.iter().filter(|source| !is_test(source.path.strip_prefix(folder).unwrap_or(&source.path)))
        {
            let path = module_path(source.path.strip_prefix(folder).unwrap_or(&source.path));
            let (_, names) = without_tests(&code(&source.text));
            of_tests.extend(names.into_iter().map(|name| [path.clone(), vec![name]].concat()));
            all.push(Module::new(path, source.path.clone(), &source.text));
        }
        all.retain(|module| !of_tests.iter().any(|path| module.path.starts_with(path)));
        Ok(Self::new(all))
    }

    pub(super) fn new(all: Vec<Module>) -> Self {
        let by_path = all.iter().enumerate().map(|(at, module)| (module.path.clone(), at)).collect();
        Self { all, by_path }
    }

    pub(super) fn all(&self) -> &[Module] {
        &self.all
    }

    pub(super) fn get(&self, at: usize) -> Option<&Module> {
        self.all.get(at)
    }

    /// The module that defines the item at `path`, which is written in module `from`.
    ///
    /// `None` for items of other crates, for names of the file's own, and for a module as a whole: its items are named elsewhere.
    ///
    /// What a file takes from its folder's file, which re-exports it from another file of the folder, counts as the folder's.
    pub(super) fn definer(&self, from: usize, path: &[String]) -> Option<usize> {
        self.resolve(from, path, Walk { origin: from, detours: MAX_DETOURS })
    }

    fn resolve(&self, from: usize, path: &[String], walk: Walk) -> Option<usize> {
        let module = self.all.get(from)?;
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.descend(self.at(&[])?, rest, walk),
            "self" => self.descend(from, rest, walk),
            "super" => {
                let (_, parent) = module.path.split_last()?;
                let parent = self.at(parent)?;
                match rest.first() {
                    Some(next) if next == "super" => self.resolve(parent, rest, walk),
                    _ => self.descend(parent, rest, walk),
                }
            }
            _ if self.child(from, first).is_some() => self.descend(from, path, walk),
            // Not an import that begins with its own name, as that of another crate does.
            _ => self.imported(from, path, walk),
        }
    }

    fn at(&self, path: &[String]) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    fn child(&self, parent: usize, name: &String) -> Option<usize> {
        let path = [self.all.get(parent)?.path.as_slice(), std::slice::from_ref(name)].concat();
        self.at(&path)
    }

    /// Follows `path` down from module `at`.
    fn descend(&self, at: usize, path: &[String], walk: Walk) -> Option<usize> {
        let (first, rest) = path.split_first()?;
        if let Some(child) = self.child(at, first) {
            return self.descend(child, rest, walk);
        }
        if self.all.get(at)?.definitions.contains(first) {
            return Some(at);
        }
        match self.imported(at, path, walk) {
            Some(definer) if self.is_folder_of(at, walk.origin) && self.is_below(definer, at) => Some(at),
            Some(definer) => Some(definer),
            None => Some(at),
        }
    }

    /// Returns whether module `at` is a folder's file, and `file` in that folder or below.
    fn is_folder_of(&self, at: usize, file: usize) -> bool {
        at != file
            && self.all.get(at).is_some_and(|folder| !folder.path.is_empty())
            && self.is_below(file, at)
    }

    fn is_below(&self, at: usize, folder: usize) -> bool {
        let pair = self.all.get(at).zip(self.all.get(folder));
        pair.is_some_and(|(module, folder)| module.path.starts_with(&folder.path))
    }

    /// Follows the import of module `at` that brings the first name of `path`.
    fn imported(&self, at: usize, path: &[String], walk: Walk) -> Option<usize> {
        let walk = Walk { detours: walk.detours.checked_sub(1)?, ..walk };
        let (first, rest) = path.split_first()?;
        let module = self.all.get(at)?;
        let named =
            module.imports.iter().find(|import| import.name == *first && import.path.first() != Some(first));
        if let Some(import) = named {
            return self.resolve(at, &[import.path.as_slice(), rest].concat(), walk);
        }
        let globs = module.imports.iter().filter(|import| import.name == "*");
        let mut origins = globs.filter_map(|glob| {
            let full = [glob.path.as_slice(), path].concat();
            self.resolve(at, &full, walk).filter(|definer| self.defines(*definer, path))
        });
        origins.next()
    }

    fn defines(&self, at: usize, path: &[String]) -> bool {
        let last = path.first();
        last.is_some_and(|name| self.all.get(at).is_some_and(|module| module.definitions.contains(name)))
    }
}

/// `/a/b.rs` is module `a::b`, as is `/a/b/mod.rs`.
fn module_path(file: &str) -> Vec<String> {
    let mut path: Vec<String> =
        file.trim_start_matches('/').trim_end_matches(".rs").split('/').map(ToOwned::to_owned).collect();
    if path.last().is_some_and(|last| last == "mod") || ["lib", "main"].iter().any(|root| path == [*root]) {
        path.pop();
    }
    path
}
