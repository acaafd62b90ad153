//! task.toml.

use serde::{Deserialize, Serialize};

use super::expression::Expression;
use crate::codes;
use crate::document::{Cause, Decimal, Document, DocumentError, Item, Table};
use crate::protocol::{check_format, name};

/// Element type of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dtype {
    /// 32-bit IEEE floating point.
    F32,
    /// 32-bit signed integer; compared exactly.
    I32,
}

/// What a task's candidates are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C, compiled to a shared object.
    C,
    /// Python, run by the CPython of the machine, whose state is the candidate's: the label of least trust.
    Python,
}

impl Language {
    /// How the names of its files end, with the dot.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::C => ".c",
            Self::Python => ".py",
        }
    }
}

/// How inputs are drawn. All streams are keyed and fresh for each call.
#[derive(Debug, Clone, PartialEq)]
pub enum Fill {
    /// Uniform in [-scale, scale) times a per-call factor from {1, 1/64, 8}; one element in about 1000 is +-outlier.
    Signed {
        /// Amplitude.
        scale: Decimal,
        /// Amplitude of the outliers; 0 for none.
        outlier: Decimal,
    },
    /// Uniform in [scale / 16, scale).
    Positive {
        /// Greatest value.
        scale: Decimal,
    },
    /// Integers uniform in [0, bound).
    Index {
        /// Upper bound.
        bound: Expression,
    },
}

/// A tensor: contiguous, row-major.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Name, for messages.
    pub name: String,
    /// Element type.
    pub dtype: Dtype,
    /// Axis sizes.
    pub shape: Vec<Expression>,
    /// True if the first axis is the row dimension; false if all rows share the tensor.
    pub per_row: bool,
    /// How it is drawn; outputs have none.
    pub fill: Option<Fill>,
}

impl Tensor {
    /// Number of elements; None on overflow.
    pub fn elements(&self, dims: &[u64]) -> Option<u64> {
        self.shape.iter().try_fold(1_u64, |product, axis| product.checked_mul(axis.value(dims)?))
    }

    /// Number of elements of one row; all elements for a shared tensor.
    pub fn row_elements(&self, dims: &[u64]) -> Option<u64> {
        let skip = usize::from(self.per_row);
        self.shape.iter().skip(skip).try_fold(1_u64, |product, axis| product.checked_mul(axis.value(dims)?))
    }
}

/// What the sampled check of a window draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Elements of elementwise tasks.
    Element,
    /// Whole rows.
    Row,
}

/// The tolerance class; its numbers are protocol fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tolerance {
    /// No sums: a few units in the last place.
    Elementwise,
    /// Sums in any order.
    Reduction,
}

/// A public shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Name.
    pub name: String,
    /// Dimensions in the task's order.
    pub dims: Vec<u64>,
    /// True if the shape is timed.
    pub timed: bool,
}

/// The vendor baseline's library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vendor {
    /// Name for people.
    pub name: String,
    /// Debian package to install.
    pub package: String,
    /// Library names for the linker.
    pub link: Vec<String>,
    /// Environment of the worker that loads it.
    pub env: Vec<(String, String)>,
    /// More environments, each one variable: a library that misjudges the processor would make a strawman, so the fastest that
    /// passes the check is the baseline.
    pub variants: Vec<(String, String)>,
}

/// A parsed task.toml.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskSpec {
    /// Id, equal to the folder's name.
    pub id: String,
    /// Title for people.
    pub title: String,
    /// What it mirrors.
    pub summary: String,
    /// Where the operator comes from.
    pub source: String,
    /// C function.
    pub symbol: String,
    /// What candidates and baselines are written in; the reference is C in any case.
    pub language: Language,
    /// The one editable file.
    pub editable: String,
    /// Names of the dimensions; the first is the row dimension.
    pub dims: Vec<String>,
    /// Unit of the sampled check.
    pub unit: Unit,
    /// Tolerance class.
    pub tolerance: Tolerance,
    /// Workspace in bytes.
    pub workspace: Expression,
    /// Floating-point operations of one call.
    pub flops: Expression,
    /// Compulsory traffic of one call in bytes.
    pub bytes: Expression,
    /// Inputs in prototype order.
    pub inputs: Vec<Tensor>,
    /// Outputs in prototype order.
    pub outputs: Vec<Tensor>,
    /// Public shapes.
    pub shapes: Vec<Shape>,
    /// Inclusive ranges of hidden shapes, per dimension.
    pub hidden: Vec<(u64, u64)>,
    /// The vendor baseline, where one exists.
    pub vendor: Option<Vendor>,
}

/// Greatest size of one tensor in bytes; larger shapes would not fit a laptop's window.
const TENSOR_MAX_BYTES: u64 = 64 << 20;
/// Tensors that the worker can pass.
const TENSORS_MAX: usize = 8;

impl TaskSpec {
    /// Parses task.toml. `file` is used in messages only.
    pub fn parse(file: &str, text: &str) -> Result<Self, DocumentError> {
        let document = Document::parse(file, text)?;
        let root = document.root();
        check_format(&root)?;
        let dims = read_dims(&root)?;
        let size = |key: &'static str| {
            let item = root.require(key)?;
            expression(&item, item.text()?, &dims)
        };
        let language = match root.get("language") {
            Some(item) => choice(&item, &[("c", Language::C), ("python", Language::Python)])?,
            None => Language::C,
        };
        let spec = Self {
            id: read_name(&root, "id")?,
            title: text_of(&root, "title")?,
            summary: text_of(&root, "summary")?,
            source: text_of(&root, "source")?,
            symbol: read_symbol(&root)?,
            language,
            editable: read_editable(&root, language)?,
            unit: choice(&root.require("unit")?, &[("element", Unit::Element), ("row", Unit::Row)])?,
            tolerance: choice(
                &root.require("tolerance")?,
                &[("elementwise", Tolerance::Elementwise), ("reduction", Tolerance::Reduction)],
            )?,
            workspace: size("workspace")?,
            flops: size("flops")?,
            bytes: size("bytes")?,
            inputs: read_tensors(&root, "input", &dims)?,
            outputs: read_tensors(&root, "output", &dims)?,
            shapes: read_shapes(&root, &dims)?,
            hidden: read_hidden(&root, &dims)?,
            vendor: root.get("vendor").map(|item| read_vendor(&item)).transpose()?,
            dims,
        };
        root.finish()?;
        spec.check(&root)?;
        Ok(spec)
    }

    /// The timed shapes.
    pub fn timed(&self) -> impl Iterator<Item = &Shape> {
        self.shapes.iter().filter(|shape| shape.timed)
    }

    /// The shape with this name.
    pub fn shape(&self, name: &str) -> Option<&Shape> {
        self.shapes.iter().find(|shape| shape.name == name)
    }

    fn check(&self, root: &Table<'_>) -> Result<(), DocumentError> {
        let fault = |key: &'static str, cause: &str| Err(root.require(key)?.rule(codes::OUT_OF_RANGE, cause));
        if self.inputs.len() + self.outputs.len() > TENSORS_MAX || self.inputs.is_empty() || self.outputs.is_empty() {
            return fault("input", "a kernel has 1 or more inputs and outputs, at most 8 tensors in all");
        }
        if self.language == Language::Python && self.vendor.is_some() {
            return fault("vendor", "a Python task has no vendor library: what it imports is its own");
        }
        if self.timed().count() == 0 {
            return fault("shape", "no shape is timed");
        }
        if self.outputs.iter().any(|output| !output.per_row) {
            return fault("output", "the first axis of an output is the row dimension");
        }
        let element = self.unit == Unit::Element;
        if element && (self.dims.len() != 2 || self.inputs.iter().any(|input| !input.per_row)) {
            return fault("unit", "the unit `element` needs the dimensions rows and cols, and no shared input");
        }
        let largest: Vec<u64> = self.hidden.iter().map(|range| range.1).collect();
        for dims in self.shapes.iter().map(|shape| &shape.dims).chain([&largest]) {
            for tensor in self.inputs.iter().chain(&self.outputs) {
                if tensor.elements(dims).is_none_or(|n| n == 0 || n > TENSOR_MAX_BYTES / 4) {
                    return fault("shape", "every tensor has 1 element to 64 MiB at every shape, hidden ones too");
                }
            }
            if self.workspace.value(dims).is_none_or(|bytes| bytes > TENSOR_MAX_BYTES) {
                return fault("workspace", "a workspace has at most 64 MiB");
            }
        }
        Ok(())
    }
}

fn text_of(table: &Table<'_>, key: &'static str) -> Result<String, DocumentError> {
    table.require(key)?.text().map(str::to_owned)
}

fn read_name(table: &Table<'_>, key: &'static str) -> Result<String, DocumentError> {
    let item = table.require(key)?;
    name(&item, item.text()?)
}

fn choice<T: Copy>(item: &Item<'_>, choices: &[(&str, T)]) -> Result<T, DocumentError> {
    let found = item.text()?;
    choices.iter().find(|(word, _)| *word == found).map(|(_, value)| *value).ok_or_else(|| {
        let range = choices.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" | ");
        item.error(codes::OUT_OF_RANGE, Cause::Range { found: found.to_owned(), range })
    })
}

fn expression(item: &Item<'_>, text: &str, dims: &[String]) -> Result<Expression, DocumentError> {
    Expression::parse(text, dims).map_err(|error| item.rule(codes::OUT_OF_RANGE, &error.to_string()))
}

fn read_dims(root: &Table<'_>) -> Result<Vec<String>, DocumentError> {
    let item = root.require("dims")?;
    let mut dims: Vec<String> = Vec::new();
    for (at, dim) in item.list()?.iter().enumerate() {
        let text = name(dim, dim.text()?)?;
        if at == 0 && text != "rows" {
            return Err(dim.rule(codes::OUT_OF_RANGE, "the first dimension is `rows`"));
        }
        if dims.contains(&text) {
            return Err(dim.error(codes::DUPLICATE, Cause::Duplicate(text)));
        }
        dims.push(text);
    }
    if (1..=8).contains(&dims.len()) {
        Ok(dims)
    } else {
        Err(item.rule(codes::OUT_OF_RANGE, "a task has 1 to 8 dimensions"))
    }
}

fn read_symbol(root: &Table<'_>) -> Result<String, DocumentError> {
    let item = root.require("symbol")?;
    let text = item.text()?;
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.is_empty() || !text.chars().all(legal) || text.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(item.rule(codes::OUT_OF_RANGE, "a symbol is a C identifier"));
    }
    Ok(text.to_owned())
}

fn read_editable(root: &Table<'_>, language: Language) -> Result<String, DocumentError> {
    let item = root.require("editable")?;
    let name = format!("kernel{}", language.suffix());
    match item.texts()?.as_slice() {
        [one] if *one == name => Ok(name),
        [_] => Err(item.rule(codes::TASK_SURFACE, &format!("the editable file of a {language:?} task is {name}"))),
        files => {
            let cause = format!("{} files are editable; a candidate is exactly one file", files.len());
            Err(item.rule(codes::TASK_SURFACE, &cause))
        }
    }
}

fn read_tensors(root: &Table<'_>, key: &'static str, dims: &[String]) -> Result<Vec<Tensor>, DocumentError> {
    root.require(key)?.tables()?.iter().map(|table| read_tensor(table, key == "input", dims)).collect()
}

fn read_tensor(table: &Table<'_>, input: bool, dims: &[String]) -> Result<Tensor, DocumentError> {
    let shape_item = table.require("shape")?;
    let axes = shape_item.list()?;
    let shape = axes.iter().map(|axis| expression(axis, axis.text()?, dims)).collect::<Result<Vec<_>, _>>()?;
    let per_row =
        if input { table.require("rows")?.boolean()? } else { shape.first().is_some_and(|axis| axis.is_dim(0)) };
    if per_row && !shape.first().is_some_and(|axis| axis.is_dim(0)) {
        return Err(shape_item.rule(codes::OUT_OF_RANGE, "the first axis of a per-row tensor is `rows`"));
    }
    let dtype = choice(&table.require("dtype")?, &[("f32", Dtype::F32), ("i32", Dtype::I32)])?;
    let fill = if input { Some(read_fill(table, dtype, dims)?) } else { None };
    let tensor = Tensor { name: text_of(table, "name")?, dtype, shape, per_row, fill };
    table.finish()?;
    Ok(tensor)
}

fn read_fill(table: &Table<'_>, dtype: Dtype, dims: &[String]) -> Result<Fill, DocumentError> {
    let fill = table.require("fill")?;
    let number = |key: &'static str| {
        let item = table.require(key)?;
        let text = item.text()?;
        Decimal::parse(text)
            .filter(|decimal| (0.0..=1e6).contains(&decimal.value()))
            .ok_or_else(|| item.rule(codes::OUT_OF_RANGE, "a scale is a decimal string from 0 to 1e6"))
    };
    match (fill.text()?, dtype) {
        ("signed", Dtype::F32) => Ok(Fill::Signed { scale: number("scale")?, outlier: number("outlier_scale")? }),
        ("positive", Dtype::F32) => Ok(Fill::Positive { scale: number("scale")? }),
        ("index", Dtype::I32) => {
            let bound = table.require("bound")?;
            Ok(Fill::Index { bound: expression(&bound, bound.text()?, dims)? })
        }
        _ => Err(fill.rule(codes::OUT_OF_RANGE, "a fill is signed or positive for f32, index for i32")),
    }
}

fn read_shapes(root: &Table<'_>, dims: &[String]) -> Result<Vec<Shape>, DocumentError> {
    let item = root.require("shape")?;
    let mut shapes: Vec<Shape> = Vec::new();
    for table in item.tables()? {
        let values = table.require("dims")?;
        let sizes = values.list()?.iter().map(Item::integer).collect::<Result<Vec<_>, _>>()?;
        if sizes.len() != dims.len() || sizes.contains(&0) {
            return Err(values.rule(codes::OUT_OF_RANGE, "a shape has one size above 0 per dimension"));
        }
        let name_item = table.require("name")?;
        let shape = Shape {
            name: name(&name_item, name_item.text()?)?,
            dims: sizes,
            timed: table.require("timed")?.boolean()?,
        };
        table.finish()?;
        if shapes.iter().any(|other| other.name == shape.name) {
            return Err(name_item.error(codes::DUPLICATE, Cause::Duplicate(shape.name)));
        }
        shapes.push(shape);
    }
    Ok(shapes)
}

fn read_hidden(root: &Table<'_>, dims: &[String]) -> Result<Vec<(u64, u64)>, DocumentError> {
    let table = root.require("hidden")?.table()?;
    let mut ranges = Vec::new();
    for dim in dims {
        let (_, item) = table
            .items()
            .find(|(key, _)| key == dim)
            .ok_or_else(|| table.error(codes::MISSING_KEY, Cause::Rule(format!("the range of `{dim}` is missing"))))?;
        let ends = item.list()?.iter().map(Item::integer).collect::<Result<Vec<_>, _>>()?;
        match ends.as_slice() {
            [low, high] if *low > 0 && low <= high => ranges.push((*low, *high)),
            _ => return Err(item.rule(codes::OUT_OF_RANGE, "a hidden range is [low, high] with 0 < low <= high")),
        }
    }
    match table.items().find(|(key, _)| !dims.iter().any(|dim| dim == key)) {
        Some((key, item)) => Err(item.error(codes::UNKNOWN_KEY, Cause::Rule(format!("`{key}` is not a dimension")))),
        None => Ok(ranges),
    }
}

fn read_vendor(item: &Item<'_>) -> Result<Vendor, DocumentError> {
    let table = item.table()?;
    let env = match table.get("env") {
        Some(item) => {
            let env = item.table()?;
            env.items()
                .map(|(key, value)| Ok((key.to_owned(), value.text()?.to_owned())))
                .collect::<Result<Vec<_>, _>>()?
        }
        None => Vec::new(),
    };
    let link = table.require("link")?;
    let names = link.texts()?;
    if names.is_empty() || names.iter().any(|name| !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')) {
        return Err(link.rule(codes::OUT_OF_RANGE, "a library name has letters, digits and _ only"));
    }
    let variants = match table.get("variants") {
        Some(item) => item.list()?.iter().map(variable).collect::<Result<Vec<_>, _>>()?,
        None => Vec::new(),
    };
    let vendor =
        Vendor { name: text_of(&table, "name")?, package: text_of(&table, "package")?, link: names, env, variants };
    table.finish()?;
    Ok(vendor)
}

/// `NAME=VALUE`.
fn variable(item: &Item<'_>) -> Result<(String, String), DocumentError> {
    match item.text()?.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(item.rule(codes::OUT_OF_RANGE, "a variant is NAME=VALUE")),
    }
}
