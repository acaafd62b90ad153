//! The form of bodies: exactly a kind's keys, each with its JSON type.

use serde_json::Value;

/// Parses a body and checks its form; None if it is not canonical or has another form.
pub(super) fn parse(kind: &str, text: &str) -> Option<Value> {
    // The grammar first: what follows may then take numbers for numbers.
    serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
    let text = mark_numbers(text);
    let body: Value = serde_json::from_str(&text).ok()?;
    let written = body.to_string();
    let canonical = body.is_object() && written == text && is_plain(&body);
    (canonical && form_of(&body) == expected(kind)? && fits(kind, &body)).then_some(body)
}

/// Replaces every number that is not a canonical integer of 64 bits by one fraction.
///
/// Among window times such a number has a rule of its own, whatever its digits; elsewhere no form has fractions. SQL sees that a
/// number is none, but not its digits, and serde reads no number beyond the range of floats.
fn mark_numbers(text: &str) -> String {
    let mut marked = String::with_capacity(text.len());
    let (mut rest, mut quoted) = (text, false);
    while let Some(first) = rest.chars().next() {
        let number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let starts_number = !quoted && (first == '-' || first.is_ascii_digit());
        let length = match first {
            '\\' if quoted => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            _ if starts_number => rest.find(|c| !number(c)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        quoted ^= first == '"';
        let (token, after) = rest.split_at(length);
        let odd = starts_number && (token == "-0" || token.parse::<i64>().is_err());
        marked.push_str(if odd { "0.5" } else { token });
        rest = after;
    }
    marked
}

/// Keys are plain words, and no text holds the character that ends texts in C.
fn is_plain(value: &Value) -> bool {
    let word = |key: &str| key.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.'));
    match value {
        Value::String(text) => !text.contains('\0'),
        Value::Array(items) => items.iter().all(is_plain),
        Value::Object(members) => members.iter().all(|(key, value)| word(key) && is_plain(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

fn expected(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "protocol" => "digest:text format:integer id:text protocol:object",
        "task" => "digest:text files:array format:integer id:text unit:text",
        "campaign" => {
            "command:text format:integer hypothesis:text id:text iterations:integer proposer:text protocol:text \
             readout:text registration:text seed:integer shapes:array stop_rule:text task:text task_id:text"
        }
        "session" => {
            "campaign:text canary:text compiler:text delay_ns:integer format:integer handoff_ns:integer harness:text id:text \
             isolation:text key_hash:text machine:object"
        }
        "baseline" => {
            "artefact:text campaign:text flags:text format:integer role:text session:text source:text tried:array"
        }
        "candidate" => {
            "campaign:text cost:text format:integer generation:integer iteration:integer note:text parent:text \
             proposer:text source:text"
        }
        "fault" => "campaign:text candidate:text code:text detail:text format:integer outcome:text",
        "block" => {
            "arms:array attempt:integer campaign:text canary:text cells:array format:integer index:integer isolation:text judge:text \
             phase:text protocol:text quiet:true runs:array seeds:array session:text task:text"
        }
        "keep" => "block:integer campaign:text candidate:text format:integer parent:text",
        "close" => {
            "campaign:text format:integer gates:integer gates_head:text keys:array reason:text refusals:integer \
             refusals_head:text"
        }
        "registration" => {
            "arms:array confidence:text confidence_equivalence:text delivery:text delta:text digest:text format:integer harness:text \
             hypothesis:text id:text ladder:text machine:text mde:text min_pairs:integer pairs:integer protocol:text readout:text \
             same:integer shapes:array stop_rule:text task:text task_id:text underpowered:text why:text"
        }
        "abandon" => "format:integer reason:text registration:text",
        "decision" => {
            "block:integer candidate:text code:text decision:text format:integer gate:text limit:text observed:text \
             role:text source:text"
        }
        "ruling" => "by:text decision:text format:integer gate:integer number:integer reason:text",
        "refused" => "code:text digest:text format:integer key:text kind:text refused:text",
        _ => return None,
    })
}

/// `key:type` of each member, in key order, in SQLite's words for types.
fn form_of(value: &Value) -> String {
    let Some(members) = value.as_object() else { return String::new() };
    members.iter().map(|(key, value)| format!("{key}:{}", type_of(value))).collect::<Vec<_>>().join(" ")
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true",
        Value::Number(number) if number.is_i64() => "integer",
        Value::Number(_) => "real",
        Value::String(_) => "text",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// What else a kind's form asks for.
fn fits(kind: &str, body: &Value) -> bool {
    let fits = match kind {
        "protocol" => protocol_fits(&body["protocol"]),
        "task" => {
            matches!(body["unit"].as_str(), Some("element" | "row")) && all(&body["files"], "digest:text name:text")
        }
        "campaign" => super::list(body, "shapes").iter().all(Value::is_string),
        "registration" => {
            super::list(body, "shapes").iter().all(Value::is_string)
                && all(&body["arms"], "kind:text role:text source:text")
        }
        "session" => {
            form_of(&body["machine"])
                == "boot:text cpu:text cpus:integer fingerprint:text governor:text kernel:text memory_mib:integer \
                    virtual_machine:true"
        }
        "baseline" => {
            let timed = |tried: &Value| super::list(tried, "picos").iter().all(Value::is_i64);
            all(&body["tried"], "flags:text outcome:text picos:array") && super::list(body, "tried").iter().all(timed)
        }
        "close" => all(&body["keys"], "key:text session:text"),
        "block" => block_fits(body),
        "decision" => matches!(body["decision"].as_str(), Some("pass" | "flag" | "quarantine" | "reject")),
        "ruling" => matches!(body["decision"].as_str(), Some("release" | "reject")),
        "refused" => body["code"].as_str().is_some_and(|code| {
            code.len() == 6 && code.starts_with("ATB") && code.bytes().skip(3).all(|byte| byte.is_ascii_digit())
        }),
        _ => true,
    };
    fits && body["format"] == 1
}

/// True for a list of objects of one form.
fn all(value: &Value, form: &str) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(|item| form_of(item) == form))
}

/// Limits that the rules read as positive integers.
const COUNTS: [&str; 15] = [
    "kernel.warmup_min",
    "kernel.warmup_max",
    "kernel.windows",
    "kernel.window_floor_us",
    "kernel.calls_max",
    "correctness.sampled_elements",
    "correctness.sampled_rows",
    "replication.pairs_screen",
    "replication.pairs_confirm",
    "replication.pairs_confirm_2",
    "replication.pairs_confirm_5",
    "replication.pairs_confirm_10",
    "replication.pairs_report",
    "replication.pairs_probe",
    "session.minutes_max",
];

/// Limits that the rules read as shares, `0.` and digits.
const SHARES: [&str; 3] = ["noise.cv_cap", "session.handoff_max", "session.delay_tolerance"];

fn protocol_fits(protocol: &Value) -> bool {
    let Some(fields) = protocol["fields"].as_object() else { return false };
    let fits = |field: &Value| {
        let value = &field["value"];
        let known = matches!(type_of(value), "integer" | "text" | "array");
        let form = format!("locator:text source:text unit:text value:{}", type_of(value));
        known && form_of(field) == form && value.as_array().is_none_or(|list| list.iter().all(Value::is_string))
    };
    let value = |key: &str| fields.get(key).map_or(&Value::Null, |field| &field["value"]);
    let count = |key: &&str| value(key).as_i64().is_some_and(|count| (1..=1_000_000_000).contains(&count));
    let share = |key: &&str| {
        let digits = value(key).as_str().and_then(|text| text.strip_prefix("0."));
        digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    form_of(protocol) == "fields:object format:integer id:text title:text"
        && fields.values().all(fits)
        && COUNTS.iter().all(count)
        && SHARES.iter().all(share)
}

fn block_fits(body: &Value) -> bool {
    let run_fits = |run: &Value| {
        form_of(run) == "arm:integer cells:array checks:object pair:integer"
            && form_of(&run["checks"]) == "failed:integer full:integer miss_ppm:integer sampled:integer scanned:integer"
            && all(&run["cells"], "k:integer value:integer warmup:integer windows:array")
            && super::list(run, "cells").iter().all(flat)
    };
    all(&body["arms"], "artefact:text flags:text role:text source:text")
        && all(&body["cells"], "dims:array shape:text")
        && super::list(body, "cells").iter().all(|cell| super::list(cell, "dims").iter().all(Value::is_i64))
        && super::list(body, "seeds").iter().all(Value::is_string)
        && super::list(body, "runs").iter().all(run_fits)
}

/// True if the windows of a cell are single values; their kind has a rule of its own.
fn flat(cell: &Value) -> bool {
    super::list(cell, "windows").iter().all(|window| !window.is_array() && !window.is_object())
}
