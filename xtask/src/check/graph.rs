//! The crate graph: who may depend on whom. The graph is the trust argument, so an edge is an error, not a warning.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::tree::{Tree, output};

/// Every allowed edge, development dependencies included. A crate that is not listed may not exist.
const ALLOWED: &[(&str, &[&str])] = &[
    ("atb", &["atb-core", "atb-ledger", "atb-measure", "atb-propose"]),
    ("atb-core", &[]),
    ("atb-ledger", &["atb-core"]),
    ("atb-measure", &["atb-core"]),
    ("atb-propose", &["atb-core"]),
    ("xtask", &["atb-core", "atb-ledger"]),
];

/// Edges and crates that are not allowed.
pub(crate) fn edges(tree: &Tree) -> Result<Vec<String>> {
    Ok(forbidden(&packages(tree)?))
}

/// Crates whose manifest does not take the workspace's lints.
pub(crate) fn lints(tree: &Tree) -> Result<Vec<String>> {
    let mut places = Vec::new();
    for package in packages(tree)? {
        let manifest = relative(tree, &package["manifest_path"]);
        let table: toml::Table =
            tree.read(&manifest)?.parse().with_context(|| format!("failed to parse {manifest}"))?;
        let taken = table.get("lints").and_then(|lints| lints.get("workspace")).and_then(toml::Value::as_bool);
        if taken != Some(true) {
            places.push(format!("{manifest}: `[lints] workspace = true` is missing"));
        }
    }
    Ok(places)
}

/// Source files of all library and binary targets, as (crate, file).
pub(crate) fn crate_roots(tree: &Tree) -> Result<Vec<(String, String)>> {
    let mut roots = Vec::new();
    for package in packages(tree)? {
        for target in list(&package["targets"]) {
            let kinds: Vec<&str> = list(&target["kind"]).filter_map(Value::as_str).collect();
            if kinds.contains(&"lib") || kinds.contains(&"bin") {
                roots.push((text(&package["name"]).to_owned(), relative(tree, &target["src_path"])));
            }
        }
    }
    Ok(roots)
}

fn packages(tree: &Tree) -> Result<Vec<Value>> {
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let printed =
        output(&tree.root, "cargo", &arguments).context("failed to run `cargo metadata --no-deps --offline`")?;
    let metadata: Value = serde_json::from_str(&printed).context("failed to read cargo's metadata")?;
    Ok(list(&metadata["packages"]).cloned().collect())
}

fn forbidden(packages: &[Value]) -> Vec<String> {
    let names: Vec<&str> = packages.iter().map(|package| text(&package["name"])).collect();
    let mut places = Vec::new();
    for package in packages {
        let from = text(&package["name"]);
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == from) else {
            places.push(format!("{from}: this crate is not in the graph"));
            continue;
        };
        for dependency in list(&package["dependencies"]) {
            let to = text(&dependency["name"]);
            let ours = names.contains(&to) || dependency["path"].is_string();
            if ours && !allowed.contains(&to) {
                let kind = dependency["kind"].as_str().unwrap_or("normal");
                places.push(format!("{from} -> {to} ({kind} dependency)"));
            }
        }
    }
    places
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn relative(tree: &Tree, path: &Value) -> String {
    let path = std::path::Path::new(text(path));
    path.strip_prefix(&tree.root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Value {
        let dependencies: Vec<Value> =
            dependencies.iter().map(|(to, kind)| json!({ "name": to, "kind": kind, "path": null })).collect();
        json!({ "name": name, "dependencies": dependencies })
    }

    #[test]
    fn a_sibling_edge_a_dev_edge_and_a_new_crate_are_found() {
        let packages = [
            package("atb-core", &[("serde", None), ("atb-ledger", Some("dev"))]),
            package("atb-ledger", &[("atb-core", None)]),
            package("atb-propose", &[("atb-core", None), ("atb-ledger", None)]),
            package("atb-extra", &[]),
        ];
        let places = forbidden(&packages);
        assert_eq!(
            places,
            [
                "atb-core -> atb-ledger (dev dependency)",
                "atb-propose -> atb-ledger (normal dependency)",
                "atb-extra: this crate is not in the graph",
            ]
        );
    }
}
