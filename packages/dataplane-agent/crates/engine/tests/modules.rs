//! The order of the modules. `lib.rs` declares them from the bottom up: a module uses those declared before it and none
//! after it, and units of one room (its direct children) do not use each other in a circle. With `TOLLWAY_GRAPH` set to a
//! path, the arrows are written there as a Mermaid flow chart.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Arrows from a unit to those it uses, each with the files that do.
type Arrows = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Modules in the order in which a source text declares them.
fn declared(text: &str) -> Vec<String> {
    let module = |line: &str| {
        let rest = line.strip_prefix("pub ").or(line.strip_prefix("pub(crate) ")).unwrap_or(line);
        Some(rest.strip_prefix("mod ")?.strip_suffix(';')?.to_owned())
    };
    text.lines().filter_map(module).collect()
}

/// Every path of an import tree, from its root on: `crate::{a::B, c}` gives `crate::a::B` and `crate::c`.
fn leaves(tree: &str) -> Vec<String> {
    let Some((prefix, rest)) = tree.split_once('{') else { return vec![tree.trim().to_owned()] };
    let inner = rest.trim_end().strip_suffix('}').unwrap_or(rest);
    let (mut depth, mut from, mut paths) = (0, 0, Vec::new());
    for (at, letter) in inner.char_indices().chain([(inner.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = inner[from..at].trim();
                if !part.is_empty() {
                    paths.extend(leaves(part).iter().map(|leaf| format!("{}{leaf}", prefix.trim())));
                }
                from = at + 1;
            }
            _ => {}
        }
    }
    paths
}

/// Paths that a source text names, in imports and elsewhere; comments and tests at its end are left out.
fn named_paths(text: &str) -> Vec<String> {
    let tests = text
        .find("#[cfg(test)]\nmod ")
        .filter(|at| text[*at..].lines().nth(1).is_some_and(|l| l.ends_with('{')));
    let code: String = text[..tests.unwrap_or(text.len())]
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let mut paths = Vec::new();
    for root in ["crate::", "super::"] {
        for (at, _) in code.match_indices(root) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == ':' || c == '_') {
                continue;
            }
            if code[..at].ends_with("use ") {
                let tree = code[at..].split(';').next().unwrap_or_default();
                paths.extend(leaves(&tree.replace('\n', " ")));
            } else {
                let end = |c: char| !(c.is_alphanumeric() || c == '_' || c == ':');
                paths.push(code[at..].split(end).next().unwrap_or_default().to_owned());
            }
        }
    }
    paths
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the sources are readable") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|kind| kind == "rs")
            && !path.to_string_lossy().contains("tests")
        {
            into.push(path);
        }
    }
}

/// The module that a path names, as far as it is one, in at most `depth` steps.
fn unit(src: &Path, path: &[String], depth: usize) -> Option<String> {
    let (mut folder, mut unit) = (src.to_owned(), Vec::new());
    for step in path.iter().take(depth) {
        if folder.join(step).is_dir() {
            folder.push(step);
            unit.push(step.clone());
        } else if folder.join(format!("{step}.rs")).is_file() {
            unit.push(step.clone());
            break;
        } else {
            break;
        }
    }
    (!unit.is_empty()).then(|| unit.join("/"))
}

fn arrows(src: &Path, depth: usize) -> Arrows {
    let mut files = Vec::new();
    sources(src, &mut files);
    let mut arrows = Arrows::new();
    for file in files {
        let relative = file.strip_prefix(src).expect("below the sources").with_extension("");
        let mut module: Vec<String> =
            relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if module.last().is_some_and(|last| last == "mod") {
            module.pop();
        }
        let Some(from) = unit(src, &module, depth) else { continue };
        for path in named_paths(&std::fs::read_to_string(&file).expect("a source")) {
            let mut steps: Vec<String> = path.split("::").map(|step| step.trim().to_owned()).collect();
            let mut base = module.clone();
            while steps.first().is_some_and(|step| step == "super") {
                steps.remove(0);
                base.pop();
            }
            if steps.first().is_some_and(|step| step == "crate") {
                steps.remove(0);
                base.clear();
            } else if base.len() == module.len() {
                continue;
            }
            base.extend(steps);
            let Some(to) = unit(src, &base, depth) else { continue };
            let parent = |one: &str, other: &str| one.starts_with(&format!("{other}/"));
            if from != to && !parent(&from, &to) && !parent(&to, &from) {
                arrows
                    .entry(from.clone())
                    .or_default()
                    .entry(to)
                    .or_default()
                    .insert(relative.display().to_string());
            }
        }
    }
    arrows
}

/// A circle, if there is one: every unit in it uses the next, the last one the first.
fn circle(arrows: &Arrows) -> Option<Vec<String>> {
    fn visit(
        at: &str,
        arrows: &Arrows,
        way: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> Option<Vec<String>> {
        if let Some(start) = way.iter().position(|unit| unit == at) {
            return Some(way[start..].to_vec());
        }
        if !done.insert(at.to_owned()) {
            return None;
        }
        way.push(at.to_owned());
        let found = arrows.get(at).into_iter().flatten().find_map(|(next, _)| visit(next, arrows, way, done));
        way.pop();
        found
    }
    let mut done = BTreeSet::new();
    arrows.keys().find_map(|unit| visit(unit, arrows, &mut Vec::new(), &mut done))
}

/// The first arrow from a module to one that is declared after it.
fn upward(arrows: &Arrows, order: &[String]) -> Option<String> {
    let floor = |unit: &str| order.iter().position(|module| module == unit);
    arrows.iter().flat_map(|(from, uses)| uses.iter().map(move |(to, files)| (from, to, files))).find_map(
        |(from, to, files)| (floor(to) >= floor(from)).then(|| format!("{from} uses {to}, in {files:?}")),
    )
}

fn chart(arrows: &Arrows) -> String {
    let mut text = "flowchart TD\n".to_owned();
    for (from, uses) in arrows {
        for (to, files) in uses {
            let _ = writeln!(text, "  {from} -->|{}| {to}", files.len());
        }
    }
    text
}

#[test]
fn modules_use_only_those_below_them_and_nothing_in_a_circle() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let order = declared(&std::fs::read_to_string(src.join("lib.rs")).expect("lib.rs"));
    let rooms = arrows(&src, 1);
    assert!(rooms.len() > 8 && rooms["pipeline"].contains_key("flow"), "the imports are read: {rooms:?}");
    assert_eq!(upward(&rooms, &order), None);
    assert_eq!(circle(&arrows(&src, 2)), None);
    if let Ok(path) = std::env::var("TOLLWAY_GRAPH") {
        std::fs::write(path, chart(&rooms)).expect("the drawing can be written");
    }
}

#[test]
fn upward_arrows_and_circles_are_found() {
    let paths =
        named_paths("use crate::a::{b::C, d};\nfn f() { crate::e::g(); super::h::i() }\n// crate::no::t\n");
    for path in ["crate::a::b::C", "crate::a::d", "crate::e::g", "super::h::i"] {
        assert!(paths.iter().any(|found| found == path), "{path} in {paths:?}");
    }
    assert!(!paths.iter().any(|path| path.contains("no")));
    let arrow = |from: &str, to: &str| {
        (from.to_owned(), BTreeMap::from([(to.to_owned(), BTreeSet::from(["file".to_owned()]))]))
    };
    let order = ["low".to_owned(), "high".to_owned()];
    assert_eq!(upward(&Arrows::from([arrow("high", "low")]), &order), None);
    assert_eq!(
        upward(&Arrows::from([arrow("low", "high")]), &order).as_deref(),
        Some("low uses high, in {\"file\"}")
    );
    assert_eq!(circle(&Arrows::from([arrow("a", "b"), arrow("b", "c")])), None);
    assert!(circle(&Arrows::from([arrow("a", "b"), arrow("b", "a")])).is_some());
    assert_eq!(declared("mod sync;\npub mod time;\nmod tests {\n"), ["sync", "time"]);
}
