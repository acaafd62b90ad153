//! `atb task`, `atb protocol`, `atb explain`.

use std::fmt::Write as _;
use std::path::Path;

use atb_core::codes::{self, Code, CodeEntry};
use atb_core::protocol::schema::{Field, FieldValue};
use atb_core::protocol::{Cited, Protocol};
use atb_core::readout::{PAPER, Rules};
use atb_core::task::{Dtype, Task};
use serde_json::json;

use super::Context;
use super::output::Output;
use crate::cli::{ProtocolCommand, TaskCommand};
use crate::error::{Error, Result};
use crate::io;

pub(super) fn task(context: &Context, command: &TaskCommand) -> Result<u8> {
    match command {
        TaskCommand::List => list_tasks(context),
        TaskCommand::Show { id, file } => show_task(context, id, file.as_deref()),
        TaskCommand::Admit { task, protocol } => super::admit::run(context, task, protocol),
        TaskCommand::New { dir } => new_task(context, dir),
    }
}

fn list_tasks(context: &Context) -> Result<u8> {
    let mut text = String::new();
    let mut list = Vec::new();
    for id in context.tasks.ids()? {
        let task = context.tasks.load(&id)?;
        let points = task.space.as_ref().map_or(0, atb_core::task::Space::size);
        let _ = writeln!(text, "{id:20} {:44} {points:4} points", task.spec.title.chars().take(44).collect::<String>());
        list.push(json!({ "id": id, "title": task.spec.title, "points": points, "digest": task.digest() }));
    }
    context.output.result(&text, &json!({ "tasks": list }))
}

fn show_task(context: &Context, id: &str, file: Option<&str>) -> Result<u8> {
    let task = context.tasks.load(id)?;
    if let Some(name) = file {
        let known: Vec<&str> = task.file_digests().into_iter().map(|(name, _)| name).collect();
        if !known.contains(&name) {
            let message = format!("task {id} has no file `{name}`");
            return Err(Error::Usage { message, remedy: format!("its files are {}", known.join(", ")) });
        }
        return Output::text(task.file(name));
    }
    context.output.result(&describe_task(&task), &task_json(&task))
}

fn describe_task(task: &Task) -> String {
    let spec = &task.spec;
    let mut text = format!(
        "{}: {}\n\n{}\n\nsource: {}\ndigest: {}\n\ninputs and outputs\n",
        spec.id,
        spec.title,
        spec.summary,
        spec.source,
        task.digest()
    );
    for (kind, tensor) in spec.inputs.iter().map(|t| ("in ", t)).chain(spec.outputs.iter().map(|t| ("out", t))) {
        let dtype = if tensor.dtype == Dtype::F32 { "f32" } else { "i32" };
        let _ = writeln!(
            text,
            "  {kind} {dtype} {}{}",
            tensor.name,
            if tensor.per_row { "" } else { " (shared by all rows)" }
        );
    }
    let _ = writeln!(text, "\npublic shapes ({})", spec.dims.join(", "));
    for shape in &spec.shapes {
        let _ = writeln!(text, "  {:24} {:?}{}", shape.name, shape.dims, if shape.timed { "  timed" } else { "" });
    }
    let _ = writeln!(text, "hidden shapes are drawn from {:?}", spec.hidden);
    let _ = writeln!(
        text,
        "\ntolerance class {:?}; checked per {:?}\n\nkernel.h\n{}",
        spec.tolerance,
        spec.unit,
        indent(task.file("kernel.h"))
    );
    let _ = writeln!(text, "starting point ({})\n{}", spec.editable, indent(task.starting_point()));
    if let Some(space) = &task.space {
        let _ = writeln!(text, "search space: {} points", space.size());
        for axis in space.axes() {
            let _ = writeln!(text, "  {:10} {:20} {}", axis.name, axis.values.join(" "), axis.doc);
        }
    }
    text
}

fn task_json(task: &Task) -> serde_json::Value {
    let spec = &task.spec;
    json!({
        "id": spec.id,
        "title": spec.title,
        "digest": task.digest(),
        "symbol": spec.symbol,
        "dims": spec.dims,
        "shapes": spec.shapes.iter().map(|s| json!({ "name": s.name, "dims": s.dims, "timed": s.timed })).collect::<Vec<_>>(),
        "header": task.file("kernel.h"),
        "starting_point": task.starting_point(),
    })
}

fn indent(text: &str) -> String {
    text.lines().fold(String::new(), |mut out, line| {
        let _ = writeln!(out, "  {line}");
        out
    })
}

/// Files of a new task, from the smallest built-in one.
fn new_task(context: &Context, dir: &Path) -> Result<u8> {
    let id = dir.file_name().and_then(|name| name.to_str()).unwrap_or("");
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if id.is_empty() || !id.bytes().all(legal) || id.starts_with(|c: char| c.is_ascii_digit()) {
        let message = format!("`{id}` is not a task id");
        return Err(Error::Usage {
            message,
            remedy: "an id has letters a-z, digits and _; it is also the C function's name".into(),
        });
    }
    io::Folder::require_absent(dir)?;
    let model = io::Tasks::default().load("silu_and_mul")?;
    for (name, _) in model.file_digests() {
        let text = model.file(name).replace("silu_and_mul", id).replace("SILU_AND_MUL", &id.to_uppercase());
        io::write_new(&dir.join(name), &text)?;
    }
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let text = format!(
        "wrote {}\nIt is a working copy of silu_and_mul: edit task.toml, kernel.h, reference.c and the baselines.\n\
         check it:   atb --tasks {} task show {id}\nmeasure it: atb --tasks {} measure {id} {}\n",
        dir.display(),
        parent.display(),
        parent.display(),
        dir.join("kernel.c").display()
    );
    context.output.result(&text, &json!({ "task": id, "dir": dir }))
}

pub(super) fn protocol(context: &Context, command: &ProtocolCommand) -> Result<u8> {
    match command {
        ProtocolCommand::Show { protocol } if protocol == io::READOUT => {
            let rules = Rules::parse("built-in/paper-1.toml", PAPER)?;
            let text = format!("{}: {}\n{}", rules.id(), rules.title(), describe_fields(rules.cited()));
            let fields = rules.cited().map(|(field, cited)| (field.key.to_owned(), json!(cited.value().to_string())));
            let fields: serde_json::Map<_, _> = fields.collect();
            context.output.result(&text, &json!({ "id": rules.id(), "title": rules.title(), "fields": fields }))
        }
        ProtocolCommand::Show { protocol } => {
            let protocol = io::load_protocol(protocol)?;
            context.output.result(&describe_protocol(&protocol), &protocol.to_json())
        }
        ProtocolCommand::Check { file } => {
            let protocol = io::load_protocol(&file.display().to_string())?;
            let text = format!("ok: {} {}\n", protocol.id(), protocol.digest());
            context.output.result(&text, &json!({ "ok": true, "id": protocol.id(), "digest": protocol.digest() }))
        }
        ProtocolCommand::Diff { a, b } => {
            let (a, b) = (io::load_protocol(a)?, io::load_protocol(b)?);
            let differences = a.differences(&b);
            let mut text = format!("{} {}\n{} {}\n", a.id(), a.digest(), b.id(), b.digest());
            for (key, mine, theirs) in &differences {
                let _ = write!(text, "\n{key}\n  - {mine}\n  + {theirs}\n");
            }
            let list: Vec<_> = differences.iter().map(|(key, a, b)| json!({ "field": key, "a": a, "b": b })).collect();
            context.output.result(&text, &json!({ "a": a.digest(), "b": b.digest(), "differences": list }))
        }
        ProtocolCommand::Digest { protocol } => {
            let protocol = io::load_protocol(protocol)?;
            let text = format!("{}\n", protocol.digest());
            context.output.result(&text, &json!({ "id": protocol.id(), "digest": protocol.digest() }))
        }
    }
}

fn describe_protocol(protocol: &Protocol) -> String {
    let fields = protocol.cited();
    let fields = describe_fields(fields.iter().map(|(field, cited)| (*field, cited)));
    format!("{}: {}\ndigest {}\n{fields}", protocol.id(), protocol.title(), protocol.digest())
}

/// Fields by group, each with its value, unit and provenance.
fn describe_fields<'c>(fields: impl Iterator<Item = (&'static Field, &'c Cited<FieldValue>)>) -> String {
    let mut text = String::new();
    let mut group = "";
    for (field, cited) in fields {
        let (this, name) = field.split();
        if this != group {
            let _ = write!(text, "\n[{this}]\n");
            group = this;
        }
        let _ =
            writeln!(text, "{name} = {} {}\n    {}: {}", cited.value(), field.unit, cited.source(), cited.locator());
    }
    text
}

pub(super) fn explain(context: &Context, code: Option<&str>) -> Result<u8> {
    let Some(code) = code else {
        let lines: Vec<String> = codes::all().map(|entry| format!("{} {}\n", entry.code, entry.title)).collect();
        let text = lines.concat();
        let list: Vec<_> = codes::all().map(code_json).collect();
        return context.output.result(&text, &json!({ "codes": list }));
    };
    let code: Code = code.to_uppercase().parse()?;
    let Some(entry) = code.entry() else { return Err(codes::UnknownCode.into()) };
    let CodeEntry { code, title, cause, evidence, remedy } = entry;
    let text = format!("{code}: {title}\n\ncause     {cause}\nevidence  {evidence}\nremedy    {remedy}\n");
    context.output.result(&text, &code_json(entry))
}

fn code_json(entry: &CodeEntry) -> serde_json::Value {
    let CodeEntry { code, title, cause, evidence, remedy } = entry;
    json!({ "code": code.to_string(), "title": title, "cause": cause, "evidence": evidence, "remedy": remedy })
}
