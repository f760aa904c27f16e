//! The modules at the top of the library depend on each other in one direction.
//!
//! What a module depends on is read from its files: `use` lines and paths that begin with `crate::`, or with as many `super::` as lead
//! to the root. Comments and tests do not count.

#![allow(clippy::unwrap_used)] // a test may end here

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Who uses whom.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// A file without its comments, without literals, and without the tests at its end.
fn code(text: &str) -> String {
    // A module of tests in a file of its own is only declared here.
    let is_here = |place: &usize| text[*place..].lines().nth(1).is_some_and(|line| line.ends_with('{'));
    let tests = text.match_indices("#[cfg(test)]\nmod ").map(|(place, _)| place).find(is_here);
    let own = &text[..tests.unwrap_or(text.len())];
    own.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The first names of a list of paths such as `{a::b, c::{d, e}}` or `a::b`, up to its end.
fn first_names(list: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = |text: &str| text.chars().take_while(|&c| is_word(c)).collect::<String>();
    let Some(inside) = list.strip_prefix('{') else { return vec![word(list)] };
    let (mut names, mut depth, mut begins) = (Vec::new(), 0, true);
    for (place, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            c if begins && is_word(c) => {
                names.push(word(&inside[place..]));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

/// The names at the root that a file refers to, which lies this many modules below it.
fn roots(code: &str, depth: usize) -> Vec<String> {
    let root = "super::".repeat(depth);
    let is_path =
        |before: &str| before.chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':');
    let mut names = Vec::new();
    for prefix in ["crate::", &root] {
        for (place, _) in code.match_indices(prefix) {
            if !is_path(&code[..place]) {
                names.extend(first_names(&code[place + prefix.len()..]));
            }
        }
    }
    names
}

/// All files below a folder that are no tests, each with the number of modules that it lies below the root.
fn files(folder: &Path, depth: usize, found: &mut Vec<(std::path::PathBuf, usize)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            files(&path, depth + 1, found);
        } else if name == "mod.rs" {
            found.push((path, depth));
        } else if name.ends_with(".rs") && !["tests.rs", "fixtures.rs", "lib.rs"].contains(&name) {
            found.push((path, depth + 1));
        }
    }
}

/// The modules that `lib.rs` declares.
fn modules(lib: &str) -> BTreeSet<String> {
    let declared = lib.lines().filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod "));
    declared.map(|name| name.trim_end_matches(';').to_string()).collect()
}

/// What `lib.rs` makes known at the root, by name, and the module that it comes from.
fn exports(lib: &str) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for list in lib.split("\npub use ").skip(1) {
        let (module, names) = list.split_once("::").unwrap();
        exports.extend(first_names(names).into_iter().map(|name| (name, module.to_string())));
    }
    exports
}

/// Who uses whom in the library.
fn edges() -> Edges {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = fs::read_to_string(source.join("lib.rs")).unwrap();
    let (modules, exports) = (modules(&lib), exports(&lib));
    let mut edges: Edges = modules.iter().map(|module| (module.clone(), BTreeSet::new())).collect();
    let mut found = Vec::new();
    files(&source, 0, &mut found);
    for (path, depth) in found {
        let top = path.strip_prefix(&source).unwrap().components().next().unwrap().as_os_str().to_str().unwrap();
        let top = top.trim_end_matches(".rs");
        for name in roots(&code(&fs::read_to_string(&path).unwrap()), depth) {
            let used = exports.get(&name).unwrap_or(&name);
            assert!(modules.contains(used), "{}: crate::{name} is no module", path.display());
            if used != top {
                edges.get_mut(top).unwrap_or_else(|| panic!("{top} is not declared")).insert(used.clone());
            }
        }
    }
    edges
}

/// Some modules that use each other in a circle, if there are any.
fn circle(edges: &Edges) -> Option<Vec<String>> {
    let mut left = edges.clone();
    // Whoever uses nobody that is left is part of no circle.
    while let Some(free) = left.iter().find(|(_, used)| !used.iter().any(|name| left.contains_key(name))) {
        let free = free.0.clone();
        left.remove(&free);
    }
    let mut walk = vec![left.keys().next()?.clone()];
    loop {
        let next = left[walk.last()?].iter().find(|name| left.contains_key(*name))?;
        if let Some(place) = walk.iter().position(|name| name == next) {
            return Some(walk.split_off(place));
        }
        walk.push(next.clone());
    }
}

/// The lines of the picture in `ARCHITECTURE.md`, from the top, each with its modules.
fn picture() -> Vec<Vec<String>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let text = fs::read_to_string(file).unwrap();
    let (_, after) = text.split_once("## Which module uses which?").expect("the picture has its heading");
    let drawn = after.split("```").nth(1).unwrap().lines().filter_map(|line| line.split_once(" | "));
    drawn.map(|(names, _)| names.split_whitespace().map(str::to_string).collect()).collect()
}

/// Uses that go beside or upwards in a picture.
fn upwards(edges: &Edges, picture: &[Vec<String>]) -> Vec<(String, String)> {
    let line = |name: &String| picture.iter().position(|names| names.contains(name));
    let pairs = edges.iter().flat_map(|(user, used)| used.iter().map(move |used| (user.clone(), used.clone())));
    pairs.filter(|(user, used)| line(user) >= line(used)).collect()
}

/// Edges by their ends.
fn made_up(pairs: &[(&str, &str)]) -> Edges {
    let mut edges = Edges::new();
    for (user, used) in pairs {
        edges.entry((*used).into()).or_default();
        edges.entry((*user).into()).or_default().insert((*used).into());
    }
    edges
}

#[test]
fn modules_use_each_other_in_one_direction() {
    let edges = edges();
    assert_eq!(circle(&edges), None, "these use each other in a circle");
    let picture = picture();
    let mut drawn: Vec<&String> = picture.iter().flatten().collect();
    drawn.sort_unstable();
    assert_eq!(drawn, edges.keys().collect::<Vec<_>>(), "each module is drawn once");
    assert_eq!(upwards(&edges, &picture), [], "these go beside or upwards in ARCHITECTURE.md");
    assert!(edges["solver"].contains("problem") && edges["training"].contains("solver"), "nothing was read");
}

#[test]
fn a_circle_that_was_made_up_is_found() {
    let chain = [("a", "b"), ("b", "c"), ("a", "c")];
    assert_eq!(circle(&made_up(&chain)), None);
    let circle = circle(&made_up(&[&chain[..], &[("c", "d"), ("d", "b")]].concat())).unwrap();
    assert_eq!(circle, ["b", "c", "d"]);
    let picture = [vec!["a".to_string()], vec!["c".to_string()], vec!["b".to_string()]];
    assert_eq!(upwards(&made_up(&chain), &picture), [("b".to_string(), "c".to_string())]);
}

#[test]
fn every_way_to_name_a_module_is_read() {
    let text = "use crate::a;\nuse crate::{b::X, c::{d, e}};\n// crate::f\nfn x() -> crate::g::Y { super::super::h::z() }\n\
                use super::i;\n#[cfg(test)]\nmod tests;\nuse $crate::j;\n#[cfg(test)]\nmod more {\nuse crate::k; }\n";
    let mut names = roots(&code(text), 2);
    names.sort_unstable();
    assert_eq!(names, ["a", "b", "c", "g", "h", "j"]);
}
