//! The page says what `--json` says, and follows the samples.

use std::path::Path;
use std::process::Command;

use crate::support::{atb, borrowed, json, measuring, quick, root, run};

fn browser() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()))
}

/// The page's elements as the browser sees them.
fn dom(browser: &str, page: &Path) -> String {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The value of the first element with this field.
fn field(dom: &str, name: &str) -> String {
    let at = dom.find(&format!("data-field=\"{name}\"")).unwrap_or_else(|| panic!("the page has no field {name}"));
    let tag = &dom[dom[..at].rfind('<').unwrap()..at + dom[at..].find('>').unwrap()];
    let value = tag.split("data-value=\"").nth(1).unwrap_or_else(|| panic!("no value: {tag}"));
    value.split('"').next().unwrap().to_owned()
}

#[test]
fn the_page_says_what_json_says_and_follows_the_samples() {
    let Some(browser) = browser() else {
        println!("skipped (chromium is not installed)");
        return;
    };
    let _one = measuring();
    let home = tempfile::tempdir().unwrap();
    let candidate = root().join("fixtures/tasks/it_chain/kernel.c").display().to_string();
    let mut arguments = ["measure", "it_chain", &candidate, "--out", "out"].map(str::to_owned).to_vec();
    arguments.extend(quick());
    atb(home.path(), &borrowed(&arguments));
    let expected = json(home.path(), "report out");
    let before = dom(browser, &home.path().join("out/report/index.html"));
    for name in ["outcome", "ratio", "lo", "hi", "baseline", "n", "machine"] {
        let shown = field(&before, name);
        match &expected[name] {
            serde_json::Value::String(text) => assert_eq!(&shown, text, "{name}"),
            // The page keeps trailing zeros.
            number => assert_eq!(shown.parse::<f64>().ok(), number.as_f64(), "{name}"),
        }
    }
    // The same row with every window of the candidate 20 % shorter.
    let connection = rusqlite::Connection::open(home.path().join("out/atb.db")).unwrap();
    let body: String =
        connection.query_row("SELECT body FROM entry WHERE kind = 'block'", [], |row| row.get(0)).unwrap();
    let triggers: Vec<String> = connection
        .prepare("SELECT sql FROM sqlite_schema WHERE type = 'trigger'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut edited: serde_json::Value = serde_json::from_str(&body).unwrap();
    for run in edited["runs"].as_array_mut().unwrap().iter_mut().filter(|run| run["arm"] == 0) {
        for cell in run["cells"].as_array_mut().unwrap() {
            let times: Vec<u64> =
                cell["windows"].as_array().unwrap().iter().map(|w| w.as_u64().unwrap() * 8 / 10).collect();
            cell["windows"] = times.into();
        }
    }
    connection.execute_batch("DROP TRIGGER entry_update").unwrap();
    connection.execute("UPDATE entry SET body = ?1 WHERE kind = 'block'", [edited.to_string()]).unwrap();
    let restore = triggers.iter().find(|sql| sql.contains("entry_update")).unwrap();
    connection.execute_batch(restore).unwrap();
    drop(connection);
    assert_eq!(run(home.path(), "report out").0, 0);
    let after = dom(browser, &home.path().join("out/report/index.html"));
    assert_ne!(field(&after, "ratio"), field(&before, "ratio"), "the page does not follow the samples");
    assert_eq!(run(home.path(), "verify out/atb.db").0, 10);
}
