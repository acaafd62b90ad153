//! Shared objects that a compiler made, and edits of them that no compiler makes.

use std::num::NonZeroU64;

use atb_core::protocol::Protocol;
use atb_core::quantity::Seed;
use atb_core::stats::splitmix::SplitMix64;

use super::*;
use crate::build::{Compiler, Source, shared_object};

/// A kernel with data that is relocated, a call into libc and one into libm.
const KERNEL: &str = "#include <math.h>\n#include <string.h>\n\
    static float table[3] = {1, 2, 3};\nfloat *pointer = table;\nfloat (*call)(float) = expf;\n\
    void kernel(const float *x, float *y, const long *dims) {\n\
        memcpy(y, x, sizeof *y * dims[0]);\n y[0] = call(x[0]) + pointer[dims[1]];\n}\n";

fn compiled(text: &str) -> Vec<u8> {
    let protocol = Protocol::parse("demo-1.toml", include_str!("../../../../protocol/demo-1.toml")).unwrap();
    let source = Source { header: "", text, symbol: "kernel", flags: "-O2", link: &[] };
    shared_object(&Compiler::find(None).unwrap(), &protocol, &source).unwrap().0
}

/// Bytes of an object, and where its parts stand.
struct Object {
    bytes: Vec<u8>,
    /// Offsets of the program headers with their kinds.
    headers: Vec<(u32, usize)>,
    dynamic: usize,
}

impl Object {
    fn of(bytes: Vec<u8>) -> Self {
        let elf = Elf::parse(&bytes).unwrap();
        let headers = elf.segments.iter().enumerate().map(|(at, segment)| (segment.kind, 64 + 56 * at)).collect();
        let dynamic = elf.segments.iter().find(|segment| segment.kind == PT_DYNAMIC).unwrap().offset;
        Self { headers, dynamic: usize::try_from(dynamic).unwrap(), bytes }
    }

    fn kernel() -> Self {
        Self::of(compiled(KERNEL))
    }

    fn u64_at(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().unwrap())
    }

    fn put(mut self, at: usize, value: u64) -> Self {
        self.bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        self
    }

    fn header(&self, kind: u32, number: usize) -> usize {
        self.headers.iter().filter(|(of, _)| *of == kind).nth(number).unwrap().1
    }

    /// Sets the flags of a program header.
    fn flags(self, kind: u32, number: usize, flags: u32) -> Self {
        let at = self.header(kind, number);
        let value = u64::from(kind) | u64::from(flags) << 32;
        self.put(at, value)
    }

    /// The place of a dynamic entry.
    fn entry(&self, tag: u64) -> usize {
        (self.dynamic..).step_by(16).find(|&at| self.u64_at(at) == tag).unwrap()
    }

    /// Makes an entry of the dynamic section out of another one.
    fn retag(self, from: u64, to: u64) -> Self {
        let at = self.entry(from);
        self.put(at, to)
    }

    /// The place of a relocation in the file: tables stand in the first segment, where address and offset agree.
    fn relocation(&self, table: u64) -> usize {
        usize::try_from(self.u64_at(self.entry(table) + 8)).unwrap()
    }

    #[track_caller]
    fn is_refused(&self, code: Code, what: &str) {
        let refused = inspect(&self.bytes, "kernel", &[]).unwrap_err();
        assert_eq!(refused.code, code, "{refused}");
        assert!(refused.what.contains(what), "{refused}");
    }
}

#[test]
fn a_kernel_with_pointers_and_calls_is_admitted() {
    assert_eq!(inspect(&Object::kernel().bytes, "kernel", &[]), Ok(()));
}

#[test]
fn segments_that_hide_code_are_refused() {
    // The code is the second segment, the data the last one.
    Object::kernel().flags(PT_LOAD, 1, 7).is_refused(codes::ELF, "writable and executable");
    Object::kernel().flags(PT_LOAD, 3, 7).is_refused(codes::ELF, "writable and executable");
    Object::kernel().flags(PT_GNU_STACK, 0, 7).is_refused(codes::ELF, "executable stack");
    let kernel = Object::kernel();
    let stack = kernel.header(PT_GNU_STACK, 0);
    Object::kernel().put(stack, u64::from(PT_INTERP)).is_refused(codes::ELF, "executable stack");
    // A second mapping over the first one, under the same address.
    let kernel = Object::kernel();
    let (code, data) = (kernel.header(PT_LOAD, 1) + 16, kernel.header(PT_LOAD, 3) + 16);
    let address = kernel.u64_at(data);
    kernel.put(code, address).is_refused(codes::ARTEFACT, "share memory");
}

#[test]
fn a_dynamic_section_that_a_reader_finds_elsewhere_is_refused() {
    let kernel = Object::kernel();
    let header = kernel.header(PT_DYNAMIC, 0);
    let offset = kernel.u64_at(header + 8);
    kernel.put(header + 8, offset + 16).is_refused(codes::ARTEFACT, "not where it is mapped");
    let kernel = Object::kernel();
    let address = kernel.u64_at(header + 16);
    kernel.put(header + 16, address + 16).is_refused(codes::ARTEFACT, "not where it is mapped");
}

#[test]
fn dynamic_entries_that_run_code_or_are_unknown_are_refused() {
    for (tag, code, what) in [
        (tag::INIT, codes::ELF, "constructor"),
        (tag::FINI_ARRAY, codes::ELF, "constructor"),
        (tag::TEXTREL, codes::ELF, "text relocations"),
        (tag::RUNPATH, codes::DEPENDENCY, "folders"),
        (tag::AUDIT, codes::DEPENDENCY, "folders"),
        (36, codes::ELF, "an entry 0x24"),
        (17, codes::ELF, "an entry 0x11"),
        (tag::STRSZ, codes::ELF, "twice"),
    ] {
        Object::kernel().retag(tag::VERSYM, tag).is_refused(code, what);
    }
    let kernel = Object::kernel();
    let at = kernel.entry(tag::SYMENT) + 8;
    kernel.put(at, 16).is_refused(codes::ELF, "unknown form");
    let kernel = Object::kernel();
    let (symbols, data) = (kernel.entry(tag::SYMTAB) + 8, kernel.header(PT_LOAD, 3) + 16);
    let address = kernel.u64_at(data);
    kernel.put(symbols, address).is_refused(codes::ARTEFACT, "symbols are cut short");
}

#[test]
fn tables_that_leave_their_segment_are_refused() {
    // The last bytes of the first, read-only segment: a table that begins there goes on elsewhere.
    let kernel = Object::kernel();
    let first = kernel.header(PT_LOAD, 0);
    let end = kernel.u64_at(first + 16) + kernel.u64_at(first + 32);
    for (tag, code) in [(tag::RELA, "relocations"), (tag::JMPREL, "relocations"), (tag::SYMTAB, "symbols")] {
        let kernel = Object::kernel();
        let at = kernel.entry(tag) + 8;
        kernel.put(at, end - 8).is_refused(codes::ARTEFACT, code);
    }
    // A dynamic section that is longer in memory than in the file.
    let kernel = Object::kernel();
    let header = kernel.header(PT_DYNAMIC, 0);
    let size = kernel.u64_at(header + 40);
    kernel.put(header + 40, size + 16).is_refused(codes::ARTEFACT, "not where it is mapped");
    // An end before the linker's own.
    let kernel = Object::kernel();
    let at = kernel.entry(tag::RELA);
    kernel.put(at, 0).put(at + 8, 0).is_refused(codes::ARTEFACT, "behind its end");
}

#[test]
fn hash_tables_that_hide_a_symbol_are_refused() {
    let kernel = Object::kernel();
    let table = usize::try_from(kernel.u64_at(kernel.entry(tag::GNU_HASH) + 8)).unwrap();
    let bloom = usize::try_from(kernel.u64_at(table + 8) & 0xffff_ffff).unwrap();
    let (buckets, first) = (kernel.u64_at(table) & 0xffff_ffff, kernel.u64_at(table) >> 32);
    let bucket = table + 16 + 8 * bloom;
    // A bucket below the first hashed symbol: the loader would walk on from there.
    let word = kernel.u64_at(bucket) & !0xffff_ffff;
    kernel.put(bucket, word | (first - 1)).is_refused(codes::ARTEFACT, "symbols are cut short");
    // More buckets than any kernel has.
    Object::kernel().put(table, first << 32 | 1 << 21).is_refused(codes::ARTEFACT, "symbols are cut short");
    // The older table alone, whose count the loader does not believe.
    assert!(buckets > 0);
    Object::kernel().retag(tag::GNU_HASH, tag::HASH).is_refused(codes::ARTEFACT, "symbols are cut short");
}

#[test]
fn names_that_load_libraries_are_refused_also_as_its_own() {
    let own = "__attribute__((noipa)) void *dlopen(const char *file, int mode) { return (void *)(file + mode); }\n\
        void kernel(float *y) { y[0] = dlopen(\"x\", 1) != 0; }\n";
    Object::of(compiled(own)).is_refused(codes::DEPENDENCY, "dlopen");
    Object::of(compiled("void other(float *y) { y[0] = 1; }\n")).is_refused(codes::NO_SYMBOL, "kernel");
}

/// A helper that is named as a function of a library is the candidate's own, and is bound to itself.
#[test]
fn helpers_named_like_library_functions_are_bound_within_the_object() {
    let text = "__attribute__((noipa)) float tanhf(float x) { return x + 100; }\nvoid kernel(float *y) { y[0] = tanhf(y[1]); }\n";
    let bytes = compiled(text);
    let elf = Elf::parse(&bytes).unwrap();
    assert!(elf.symbols().unwrap().iter().any(|symbol| symbol.name == "tanhf" && symbol.is_defined));
    assert!(elf.relocations().unwrap().iter().all(|relocation| relocation.symbol == 0), "bound by name");
}

#[test]
fn relocations_that_no_kernel_needs_are_refused() {
    let kernel = Object::kernel();
    let (first, dynamic) = (kernel.relocation(tag::RELA), kernel.header(PT_DYNAMIC, 0) + 16);
    let (irelative, copy) = if cfg!(target_arch = "aarch64") { (1032, 1024) } else { (37, 5) };
    let section = kernel.u64_at(dynamic);
    Object::kernel().put(first + 8, irelative).is_refused(codes::ELF, "IFUNC");
    Object::kernel().put(first + 8, copy).is_refused(codes::ELF, "which no kernel needs");
    Object::kernel().put(first + 8, 1 << 40 | 1).is_refused(codes::ELF, "its hash table");
    Object::kernel().put(first, 0).is_refused(codes::ELF, "own data");
    Object::kernel().put(first, u64::MAX - 7).is_refused(codes::ELF, "own data");
    // What it would write there names the tables by which it is relocated.
    Object::kernel().put(first, section + 8).is_refused(codes::ELF, "own data");
    let kernel = Object::kernel();
    let size = kernel.entry(tag::RELASZ) + 8;
    kernel.put(size, u64::MAX).is_refused(codes::ARTEFACT, "cut short");
}

#[test]
fn thread_local_storage_and_foreign_files_are_refused() {
    let text = "static __thread float kept;\nvoid kernel(float *y) { y[0] = kept++; }\n";
    Object::of(compiled(text)).is_refused(codes::ELF, "thread-local");
    for bytes in [&b"\x7fELF"[..], b"", b"int x;"] {
        assert_eq!(inspect(bytes, "kernel", &[]).unwrap_err().code, codes::ARTEFACT);
    }
    // This test program: a shared object with start files and libraries of its own.
    assert_eq!(inspect(&std::fs::read("/proc/self/exe").unwrap(), "kernel", &[]).unwrap_err().code, codes::ELF);
}

#[test]
fn broken_files_end_without_a_panic() {
    let Object { mut bytes, dynamic, .. } = Object::kernel();
    let mut random = SplitMix64::new(Seed::new(7));
    let mut below = |bound: usize| usize::try_from(random.below(NonZeroU64::new(bound as u64).unwrap())).unwrap();
    let mut admitted = 0;
    for _ in 0..20_000 {
        let mut changed = Vec::new();
        for _ in 0..=below(8) {
            // Headers and the dynamic section, where every offset stands.
            let at = if below(2) == 0 { dynamic + below(320) } else { below(1024) };
            changed.push((at, bytes[at]));
            bytes[at] = u8::try_from(below(256)).unwrap();
        }
        let end = if below(4) == 0 { below(bytes.len()) } else { bytes.len() };
        admitted += u32::from(inspect(&bytes[..end], "kernel", &[]).is_ok());
        while let Some((at, byte)) = changed.pop() {
            bytes[at] = byte;
        }
    }
    assert!(admitted < 10_000, "{admitted}");
    assert_eq!(inspect(&bytes, "kernel", &[]), Ok(()));
}
