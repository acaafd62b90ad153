//! The form of bodies: exactly a kind's keys, each with its JSON type.

use serde_json::Value;

/// Parses a body and checks its form; None if it is not canonical or has another form.
pub(super) fn parse(kind: &str, text: &str) -> Option<Value> {
    let body: Value = serde_json::from_str(text).ok()?;
    let written = body.to_string();
    let canonical = body.is_object() && written == text;
    (canonical && form_of(&body) == expected(kind)? && fits(kind, &body)).then_some(body)
}

fn expected(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "protocol" => "digest:text format:integer id:text protocol:object",
        "task" => "digest:text files:array format:integer id:text",
        "campaign" => {
            "command:text format:integer hypothesis:text id:text iterations:integer proposer:text protocol:text \
             readout:text seed:integer shapes:array stop_rule:text task:text task_id:text"
        }
        "session" => {
            "campaign:text compiler:text delay_ns:integer format:integer handoff_ns:integer harness:text id:text \
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
            "arms:array attempt:integer campaign:text cells:array format:integer index:integer isolation:text judge:text \
             phase:text protocol:text quiet:true runs:array seeds:array session:text task:text"
        }
        "keep" => "block:integer campaign:text candidate:text format:integer parent:text",
        "close" => {
            "campaign:text format:integer gates:integer gates_head:text keys:array reason:text refusals:integer \
             refusals_head:text"
        }
        "decision" => {
            "block:integer candidate:text code:text decision:text format:integer gate:text limit:text observed:text \
             role:text source:text"
        }
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
        // SQLite turns an integer beyond 64 signed bits into a real.
        Value::Number(number) if number.is_u64() => "huge",
        Value::Number(_) => "real",
        Value::String(_) => "text",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// What else a kind's form asks for.
fn fits(kind: &str, body: &Value) -> bool {
    match kind {
        "block" => body["format"] == 1 && block_fits(body),
        "decision" => matches!(body["decision"].as_str(), Some("pass" | "quarantine" | "reject")),
        "refused" => body["code"].as_str().is_some_and(|code| {
            code.len() == 6 && code.starts_with("ATB") && code.bytes().skip(3).all(|byte| byte.is_ascii_digit())
        }),
        _ => body["format"] == 1,
    }
}

fn block_fits(body: &Value) -> bool {
    let all =
        |value: &Value, form: &str| value.as_array().is_some_and(|list| list.iter().all(|item| form_of(item) == form));
    let run_fits = |run: &Value| {
        form_of(run) == "arm:integer cells:array checks:object pair:integer"
            && form_of(&run["checks"]) == "failed:integer full:integer miss_ppm:integer sampled:integer scanned:integer"
            && all(&run["cells"], "k:integer value:integer warmup:integer windows:array")
    };
    all(&body["arms"], "artefact:text flags:text role:text source:text")
        && all(&body["cells"], "dims:array shape:text")
        && super::list(body, "seeds").iter().all(Value::is_string)
        && super::list(body, "runs").iter().all(run_fits)
}
