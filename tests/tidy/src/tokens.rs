//! Rust code as words and signs, and the `use` trees, paths and `impl` blocks in it.

/// Words, `::` and single signs of `code`, which has neither comments nor literals.
pub(super) fn tokens(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = code[at..].chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if is_word(c) {
            code[at..].find(|c: char| !is_word(c)).unwrap_or(code.len() - at)
        } else if code[at..].starts_with("::") {
            2
        } else {
            c.len_utf8()
        };
        if !c.is_whitespace() {
            found.push(&code[at..at + length]);
        }
        at += length;
    }
    found
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// One name that a `use` brings: the whole path, and what it is called here; a glob is called `*`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Import {
    pub(super) path: Vec<String>,
    pub(super) name: String,
}

/// The imports of a file.
pub(super) fn imports(tokens: &[&str]) -> Vec<Import> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        // `use<'a>` captures lifetimes.
        if *token == "use" && tokens.get(at + 1) != Some(&"<") {
            let tree = tokens.get(at + 1..).unwrap_or_default();
            let end = tree.iter().position(|token| *token == ";").unwrap_or(tree.len());
            flatten(tree.get(..end).unwrap_or_default(), &[], &mut found);
        }
    }
    found
}

/// Splits a `use` tree into its imports.
fn flatten(tree: &[&str], prefix: &[String], found: &mut Vec<Import>) {
    let mut path = prefix.to_vec();
    for (at, token) in tree.iter().enumerate() {
        match *token {
            "::" => {}
            "{" => {
                let inside = tree.get(at + 1..tree.len().saturating_sub(1)).unwrap_or_default();
                for branch in branches(inside) {
                    flatten(branch, &path, found);
                }
                return;
            }
            "*" => return found.push(Import { path, name: "*".to_owned() }),
            "as" => {
                let name = tree.get(at + 1).map_or_else(String::new, ToString::to_string);
                return found.push(Import { path, name });
            }
            "self" if !path.is_empty() => {}
            name => path.push(name.to_owned()),
        }
    }
    if let Some(name) = path.last().cloned() {
        found.push(Import { path, name });
    }
}

/// The elements of a list in braces.
fn branches<'t, 'c>(tokens: &'t [&'c str]) -> Vec<&'t [&'c str]> {
    let mut depth = 0_usize;
    tokens
        .split(|token| {
            match *token {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            *token == "," && depth == 0
        })
        .filter(|branch| !branch.is_empty())
        .collect()
}

/// Paths of two names or more outside `use`.
pub(super) fn paths(tokens: &[&str]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut is_use = false;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match *token {
            "use" => is_use = tokens.get(at + 1) != Some(&"<"),
            ";" => is_use = false,
            _ => {}
        }
        let mut path = Vec::new();
        if !is_use && is_name(token) {
            path.push((*token).to_owned());
            while tokens.get(at + 1) == Some(&"::") && tokens.get(at + 2).is_some_and(|next| is_name(next)) {
                path.extend(tokens.get(at + 2).map(ToString::to_string));
                at += 2;
            }
        }
        if path.len() > 1 {
            found.push(path);
        }
        at += 1;
    }
    found
}

/// Names that a file gives to items at its top: types, traits, functions, constants.
pub(super) fn definitions(tokens: &[&str]) -> Vec<String> {
    const KINDS: [&str; 8] = ["struct", "enum", "trait", "type", "fn", "const", "static", "union"];
    let mut depth = 0_usize;
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            kind if depth == 0 && KINDS.contains(&kind) => {
                found.extend(tokens.get(at + 1).filter(|name| is_name(name)).map(ToString::to_string));
            }
            _ => {}
        }
    }
    found
}

/// Every function's name, methods included, once for each definition.
pub(super) fn functions(tokens: &[&str]) -> Vec<String> {
    let pairs = tokens.windows(2).filter_map(|pair| match pair {
        ["fn", name] if is_name(name) => Some((*name).to_owned()),
        _ => None,
    });
    pairs.collect()
}

/// The functions of `functions` with a visibility.
fn public_functions(tokens: &[&str]) -> Vec<String> {
    let is_public = |at: usize| {
        let before = tokens.get(..at).unwrap_or_default().iter().rev();
        let mut before = before.skip_while(|token| matches!(**token, "async" | "const" | "unsafe"));
        matches!(before.next(), Some(&("pub" | ")")))
    };
    let named = tokens.windows(2).enumerate().filter_map(|(at, pair)| match pair {
        ["fn", name] if is_name(name) && is_public(at) => Some((*name).to_owned()),
        _ => None,
    });
    named.collect()
}

/// Names that are called as methods or associated functions: `.name(`, `::name(`, `.name::<`.
pub(super) fn calls(tokens: &[&str]) -> Vec<String> {
    let called = tokens.windows(3).filter_map(|three| match three {
        ["." | "::", name, "(" | "::"] if is_name(name) => Some((*name).to_owned()),
        _ => None,
    });
    called.collect()
}

/// An `impl` block without a trait.
#[derive(Debug, PartialEq)]
pub(super) struct Block {
    /// Path of the type as it is written.
    pub(super) path: Vec<String>,
    /// Names of its functions that other files may call.
    pub(super) methods: Vec<String>,
}

/// The `impl` blocks of a file that implement no trait.
pub(super) fn blocks(tokens: &[&str]) -> Vec<Block> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_item = at == 0 || matches!(tokens.get(at - 1), Some(&("}" | ";" | "]" | "unsafe" | "{")));
        if *token == "impl" && is_item {
            found.extend(block(tokens.get(at + 1..).unwrap_or_default()));
        }
    }
    found
}

fn block(tokens: &[&str]) -> Option<Block> {
    let open = tokens.iter().position(|token| *token == "{")?;
    let head = tokens.get(..open)?;
    let is_trait = head.windows(2).any(|pair| matches!(pair, ["for", next] if *next != "<"));
    if is_trait {
        return None;
    }
    let path = head.get(generics(head)..)?.iter().take_while(|token| is_name(token) || **token == "::");
    let path: Vec<String> = path.filter(|token| **token != "::").map(ToString::to_string).collect();
    let body = tokens.get(open..)?;
    let mut depth = 0_usize;
    let length = body.iter().position(|token| {
        match *token {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let methods = public_functions(body.get(..length.unwrap_or(body.len()))?);
    Some(Block { path, methods })
}

/// The number of tokens of `<…>` at the start.
fn generics(head: &[&str]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in head.iter().enumerate() {
        match *token {
            "<" => depth += 1,
            ">" if at > 0 && head.get(at - 1) != Some(&"-") => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return if at == 0 { 0 } else { at + 1 };
        }
    }
    head.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn use_trees_are_flat() {
        let code =
            "use a::{b::{C, D as E}, self, f::*};\npub(crate) use super::x; fn g() -> impl T + use<'a> {}";
        let flat = imports(&tokens(code));
        let shown: Vec<_> = flat.iter().map(|one| format!("{} {}", one.path.join("::"), one.name)).collect();
        assert_eq!(shown, ["a::b::C C", "a::b::D E", "a a", "a::f *", "super::x x"]);
    }

    #[test]
    fn paths_stand_outside_of_use() {
        let code = "use a::b; fn f(x: c::D) -> super::e::F<g::H> { I::j::<K>(l) }";
        let shown: Vec<_> = paths(&tokens(code)).iter().map(|path| path.join("::")).collect();
        assert_eq!(shown, ["c::D", "super::e::F", "g::H", "I::j"]);
    }

    #[test]
    fn blocks_without_a_trait_are_found() {
        let code = "struct A; impl A { pub const fn b(&self) { c(); } } impl<T: Fn() -> u8> m::D<T> { pub(super) fn e() {} fn f() {} } impl F for A { fn g() {} }";
        let found = blocks(&tokens(code));
        let shown: Vec<_> =
            found.iter().map(|one| format!("{} {}", one.path.join("::"), one.methods.join(","))).collect();
        assert_eq!(shown, ["A b", "m::D e"]);
    }

    #[test]
    fn definitions_stand_at_the_top() {
        let code = "pub struct A { b: u8 } const C: u8 = 1; fn d() { const E: u8 = 2; } mod f { struct G; }";
        assert_eq!(definitions(&tokens(code)), ["A", "C", "d"]);
    }
}
