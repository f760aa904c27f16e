//! What the crate promises to strangers fits on a page: it is counted here.

/// Types and traits that may be promised at most.
const MOST_TYPES: usize = 60;

/// The types and traits that the root of a crate shows, and the modules that it shows.
fn surface(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut types, mut modules) = (Vec::new(), Vec::new());
    let mut hidden = false;
    for item in text.split_inclusive([';', ']', '{']).map(str::trim) {
        if item.ends_with("#[doc(hidden)]") {
            hidden = true;
            continue;
        }
        let item = item.rsplit("pub ").next().filter(|_| item.contains("pub ")).unwrap_or_default();
        if let Some(module) = item.strip_prefix("mod ") {
            modules.extend((!hidden).then(|| module.trim_end_matches([';', '{']).trim().to_string()));
        }
        if !item.is_empty() {
            hidden = false;
        }
    }
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("\npub use ") {
        let Some((list, next)) = after.split_once(';') else { break };
        let (_, names) = list.split_once("::").unwrap_or_default();
        let names = names.split(['{', '}', ',']).filter_map(|name| name.trim().rsplit("::").next());
        types.extend(names.filter(|name| name.starts_with(char::is_uppercase)).map(str::to_string));
        rest = next;
    }
    (types, modules)
}

#[test]
fn the_surface_has_at_most_sixty_types() {
    let (types, modules) = surface(include_str!("../src/lib.rs"));
    assert!(types.len() <= MOST_TYPES, "{} types: {types:?}", types.len());
    assert!(types.len() > 12 && types.contains(&"Svc".to_string()), "{types:?}");
    assert!(modules.is_empty(), "modules that everybody can see: {modules:?}");
    let mut sorted = types.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), types.len(), "a type is promised twice: {types:?}");
}

#[test]
fn what_is_shown_is_found_by_the_count() {
    let text =
        "mod a;\n#[doc(hidden)]\npub mod b;\npub mod c;\n\npub use a::{One, d::two,\n    Three};\npub use b::Four;\n";
    let (types, modules) = surface(text);
    assert_eq!((types, modules), (vec!["One".into(), "Three".into(), "Four".into()], vec!["c".into()]));
}
