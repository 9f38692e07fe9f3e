//! What the modules of a crate use of each other, read from its sources: imports, and paths in the code.
//!
//! A name that a module exports for another (`pub use`) counts as that other's. Comments and tests are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

/// A module by the names that lead to it; the root has none.
type Module = Vec<String>;

/// Arrows between modules of one folder: from each to those it uses, with the files that do.
pub type Arrows = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// The modules of a crate.
#[derive(Debug)]
pub struct Modules {
    /// Code of each module.
    texts: BTreeMap<Module, String>,
    /// Names that a module exports for others, and what they stand for.
    exports: BTreeMap<Module, BTreeMap<String, Module>>,
}

impl Modules {
    /// Reads the sources below a crate's folder.
    ///
    /// # Panics
    /// If they cannot be read.
    pub fn of_crate(folder: impl AsRef<Path>) -> Self {
        let mut texts = BTreeMap::new();
        read(&folder.as_ref().join("src"), &Module::new(), &mut texts);
        let exports = texts.iter().map(|(module, text)| (module.clone(), exports(module, text))).collect();
        Self { texts, exports }
    }

    /// Modules of a folder in the order in which it declares them.
    pub fn declared(&self, folder: &str) -> Vec<String> {
        self.texts.get(&module_of(folder)).map(|text| declared(text)).unwrap_or_default()
    }

    /// Who of a folder's modules uses which of the others, each with all that is in it. What they use of the folder's
    /// own file, and what that uses of them, is no arrow.
    pub fn arrows(&self, folder: &str) -> Arrows {
        let folder = module_of(folder);
        let child = |module: &[String]| module.strip_prefix(folder.as_slice())?.first().cloned();
        let mut arrows = Arrows::new();
        for (module, text) in &self.texts {
            let Some(from) = child(module) else { continue };
            for path in named_paths(text) {
                let Some(to) = absolute(module, &path).and_then(|path| child(&self.resolve(path))) else {
                    continue;
                };
                if to != from {
                    let files = arrows.entry(from.clone()).or_default().entry(to).or_default();
                    files.insert(module.join("/"));
                }
            }
        }
        arrows
    }

    /// Modules that use each other in a circle, with their folder, at any depth: all of a folder's, of which each uses
    /// the next and the last one the first.
    pub fn circles(&self) -> Vec<String> {
        self.circles_without(&[])
    }

    /// [`Self::circles`] without some arrows, each a folder and who uses whom in it.
    pub fn circles_without(&self, left_out: &[[&str; 3]]) -> Vec<String> {
        let folders: BTreeSet<String> =
            self.texts.keys().filter_map(|module| Some(module.split_last()?.1.join("/"))).collect();
        let arrows = |folder: &String| {
            let mut arrows = self.arrows(folder);
            for [_, from, to] in left_out.iter().filter(|[of, ..]| of == folder) {
                arrows.get_mut(*from).and_then(|uses| uses.remove(*to));
            }
            arrows
        };
        let circles = folders.iter().filter_map(|folder| Some((folder, circle(&arrows(folder))?)));
        circles.map(|(folder, way)| format!("{folder}: {}", way.join(" -> "))).collect()
    }

    /// The first arrow from a module of a folder to one that the folder declares after it.
    pub fn upward(&self, folder: &str) -> Option<String> {
        upward(&self.arrows(folder), &self.declared(folder))
    }

    /// The arrows of a folder as a Mermaid flow chart, each with the number of files that need it.
    pub fn chart(&self, folder: &str) -> String {
        let mut text = "flowchart TD\n".to_owned();
        for (from, uses) in self.arrows(folder) {
            for (to, files) in uses {
                let _ = writeln!(text, "  {from} -->|{}| {to}", files.len());
            }
        }
        text
    }

    /// Writes the [chart](Self::chart) of the crate into the folder that the environment variable `TOLLWAY_GRAPH`
    /// names, if it names one.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn draw(&self, name: &str) {
        if let Some(folder) = std::env::var_os("TOLLWAY_GRAPH") {
            let file = Path::new(&folder).join(format!("{name}.mmd"));
            std::fs::write(file, self.chart("")).expect("the drawing can be written");
        }
    }

    /// The module in which the item of a path is, as far as the path tells.
    fn resolve(&self, mut path: Module) -> Module {
        // Exports of exports; more than a few are a circle of the crate's own making.
        for _ in 0..8 {
            let known = (0..=path.len()).rev().find(|len| self.texts.contains_key(&path[..*len]));
            let (module, rest) = path.split_at(known.unwrap_or(0));
            let exported = rest.first().and_then(|name| self.exports.get(module)?.get(name));
            let Some(exported) = exported else { return module.to_vec() };
            path = exported.iter().chain(&rest[1..]).cloned().collect();
        }
        path
    }
}

fn module_of(path: &str) -> Module {
    path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Reads the modules of a folder, and of the folders in it.
fn read(folder: &Path, module: &Module, into: &mut BTreeMap<Module, String>) {
    for entry in std::fs::read_dir(folder).expect("the sources are readable") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if name.contains("tests") {
            continue;
        }
        let mut of = module.clone();
        if path.is_dir() {
            of.push(name);
            read(&path, &of, into);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            if name != "mod" && name != "lib" {
                of.push(name);
            }
            into.insert(of, code(&std::fs::read_to_string(&path).expect("a source is readable")));
        }
    }
}

/// A source without comments, without imports for comments alone, and without the tests at its end.
fn code(text: &str) -> String {
    let tests = text
        .find("#[cfg(test)]\nmod ")
        .filter(|at| text[*at..].lines().nth(1).is_some_and(|line| line.ends_with('{')));
    let lines = text[..tests.unwrap_or(text.len())].lines();
    let code = lines.map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let mut parts = code.split("#[cfg(doc)]");
    let first = parts.next().unwrap_or_default();
    parts.fold(first.to_owned(), |code, part| code + part.split_once(';').map_or("", |(_, rest)| rest))
}

/// Modules in the order in which a source declares them.
fn declared(text: &str) -> Vec<String> {
    let module = |line: &str| {
        let (visibility, name) = line.strip_suffix(';')?.split_once("mod ")?;
        (visibility.is_empty() || visibility.starts_with("pub")).then(|| name.to_owned())
    };
    text.lines().filter_map(module).collect()
}

/// Every path of an import tree, from its root on: `crate::{a::B, c}` gives `crate::a::B` and `crate::c`.
fn paths_of(tree: &str) -> Vec<String> {
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
                    paths.extend(paths_of(part).iter().map(|leaf| format!("{}{leaf}", prefix.trim())));
                }
                from = at + 1;
            }
            _ => {}
        }
    }
    paths
}

/// Paths within the crate that a source names, in imports and elsewhere.
fn named_paths(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for root in ["crate::", "super::"] {
        for (at, _) in code.match_indices(root) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == ':' || c == '_') {
                continue;
            }
            if code[..at].ends_with("use ") {
                let tree = code[at..].split(';').next().unwrap_or_default();
                paths.extend(paths_of(&tree.replace('\n', " ")));
            } else {
                let end = |c: char| !(c.is_alphanumeric() || c == '_' || c == ':');
                paths.push(code[at..].split(end).next().unwrap_or_default().to_owned());
            }
        }
    }
    paths
}

/// Names that a source exports for other modules, and the paths behind them.
fn exports(module: &[String], code: &str) -> BTreeMap<String, Module> {
    let mut names = BTreeMap::new();
    for (before, tree) in code.split(';').filter_map(|item| item.rsplit_once("use ")) {
        if !before.trim_end().ends_with("pub") && !before.trim_end().ends_with(')') {
            continue;
        }
        for leaf in paths_of(&tree.replace('\n', " ")) {
            let (path, alias) = leaf.split_once(" as ").map_or((leaf.as_str(), None), |(p, a)| (p, Some(a)));
            let Some(name) = alias.or(path.rsplit("::").next()) else { continue };
            // Without a root it is one of the module's own children.
            let path =
                absolute(module, path).unwrap_or_else(|| module.iter().cloned().chain(steps(path)).collect());
            names.insert(name.trim().to_owned(), path);
        }
    }
    names
}

fn steps(path: &str) -> Vec<String> {
    let name = |step: &str| step.split(" as ").next().unwrap_or_default().trim().to_owned();
    path.split("::").map(name).filter(|step| !step.is_empty()).collect()
}

/// A path from the root on; `None` if it begins with none of `crate`, `self` and `super`.
fn absolute(module: &[String], path: &str) -> Option<Module> {
    let mut steps = steps(path);
    let mut base = module.to_vec();
    match steps.first()?.as_str() {
        "crate" => {
            base.clear();
            steps.remove(0);
        }
        "self" => drop(steps.remove(0)),
        "super" => {
            while steps.first().is_some_and(|step| step == "super") {
                steps.remove(0);
                base.pop();
            }
        }
        _ => return None,
    }
    base.extend(steps);
    Some(base)
}

/// A circle, if there is one: every module in it uses the next, the last one the first.
fn circle(arrows: &Arrows) -> Option<Vec<String>> {
    fn visit(
        at: &str,
        arrows: &Arrows,
        way: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> Option<Vec<String>> {
        if let Some(start) = way.iter().position(|module| module == at) {
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
    arrows.keys().find_map(|module| visit(module, arrows, &mut Vec::new(), &mut done))
}

/// The first arrow from a module to one that stands after it.
fn upward(arrows: &Arrows, order: &[String]) -> Option<String> {
    let floor = |module: &str| order.iter().position(|declared| declared == module);
    arrows.iter().flat_map(|(from, uses)| uses.iter().map(move |(to, files)| (from, to, files))).find_map(
        |(from, to, files)| (floor(to) >= floor(from)).then(|| format!("{from} uses {to}, in {files:?}")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;

    #[test]
    fn paths_in_imports_and_code_are_read_and_comments_and_tests_are_not() {
        let text = "pub use self::a::A;\n#[cfg(doc)]\nuse super::no::N;\nuse crate::a::{b::C, d};\nfn f() { crate::e::g(); super::h::i() }\n\
             // crate::no::t\n#[cfg(test)]\nmod tests {\n    use crate::no::T;\n}\n";
        let code = code(text);
        let paths = named_paths(&code);
        for path in ["crate::a::b::C", "crate::a::d", "crate::e::g", "super::h::i"] {
            assert!(paths.iter().any(|found| found == path), "{path} in {paths:?}");
        }
        assert!(!paths.iter().any(|path| path.contains("no")));
        assert_eq!(declared("mod sync;\npub mod time;\nmod tests {\n"), ["sync", "time"]);
    }

    #[test]
    fn arrows_circles_and_exports_are_found_in_a_crate() {
        let folder = Folder::new("modules");
        let write = |file: &str, text: &str| {
            let path = folder.join("src").join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder is made");
            std::fs::write(path, text).expect("a source is written");
        };
        write("lib.rs", "pub mod low;\npub mod high;\npub use high::{deep::D as E, Top};\n");
        write("low.rs", "use crate::Top;\n");
        write("high/mod.rs", "mod deep;\nmod other;\npub use self::other::{O, P};\n");
        write("high/deep.rs", "use super::O;\npub struct D(crate::low::L);\n");
        write("high/other/mod.rs", "mod x;\nmod y;\n");
        write("high/other/x.rs", "fn f() { super::y::g(crate::E) }\n");
        write("high/other/y.rs", "use super::x::{self, f};\n");
        let modules = Modules::of_crate(&*folder);
        // A name that `lib.rs` exports is the module's that has it.
        assert_eq!(modules.upward("").as_deref(), Some("low uses high, in {\"low\"}"));
        assert_eq!(modules.upward("high").as_deref(), Some("deep uses other, in {\"high/deep\"}"));
        let circles = [": high -> low", "high: deep -> other", "high/other: x -> y"];
        assert_eq!(modules.circles(), circles);
        let left_out = [["", "low", "high"], ["high", "other", "deep"]];
        assert_eq!(modules.circles_without(&left_out), circles[2..]);
        assert_eq!(modules.chart("high"), "flowchart TD\n  deep -->|1| other\n  other -->|1| deep\n");
        assert_eq!(modules.arrows("high/other")["x"].keys().collect::<Vec<_>>(), ["y"]);
    }

    /// Here, as examples of `config`, which write generated files, would be compiled with this crate and the engine
    /// if its own tests used it.
    #[test]
    fn modules_of_config_use_nothing_in_a_circle() {
        let modules = Modules::of_crate(Path::new(env!("CARGO_MANIFEST_DIR")).join("../config"));
        assert!(modules.arrows("")["protocol"].contains_key("dataplane"), "the imports are read");
        assert_eq!(modules.circles(), [""; 0]);
        modules.draw("config");
    }

    #[test]
    fn an_order_refuses_arrows_upward_alone_and_no_circle_is_seen_where_none_is() {
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
    }
}
