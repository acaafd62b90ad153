//! What a shared object may hold, read from its bytes before anything loads it.
//!
//! Constructors and resolvers run while the code is loaded, before any check of the harness; libraries beyond the C library could do the
//! kernel's work; memory that is writable and executable hides code from every reader. The reader follows what the loader follows, the
//! program headers and the dynamic section, never the section headers, and trusts no offset.

use atb_core::codes::{self, Code};

/// Libraries that kernels may use. The loader's own name stands in what uses its variables.
const ALLOWED: &[&str] = &["libc.so.6", "libm.so.6", "libmvec.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"];
/// Functions that load other libraries.
const LOADERS: &[&str] = &["dlopen", "dlmopen", "dlsym", "dlvsym", "__libc_dlopen_mode"];
/// Most symbols and relocations that are read; a kernel has a few dozen.
const ENTRIES_MAX: usize = 1 << 20;

/// Why a shared object is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {what}")]
pub(crate) struct Refused {
    /// The code.
    pub(crate) code: Code,
    /// What was found.
    pub(crate) what: String,
}

type Checked<T = ()> = Result<T, Refused>;

fn refused<T>(code: Code, what: impl Into<String>) -> Checked<T> {
    Err(Refused { code, what: what.into() })
}

/// Inspects a shared object. `link` names the libraries that a vendor baseline is linked with.
pub(crate) fn inspect(bytes: &[u8], link: &[String]) -> Checked {
    let elf = Elf::parse(bytes)?;
    elf.check_segments()?;
    let dynamic = elf.dynamic()?;
    check_constructors(&dynamic)?;
    elf.check_libraries(&dynamic, link)?;
    elf.check_symbols(&dynamic, link.is_empty())?;
    elf.check_relocations(&dynamic)
}

mod tag {
    pub(super) const NEEDED: u64 = 1;
    pub(super) const PLTRELSZ: u64 = 2;
    pub(super) const HASH: u64 = 4;
    pub(super) const STRTAB: u64 = 5;
    pub(super) const SYMTAB: u64 = 6;
    pub(super) const RELA: u64 = 7;
    pub(super) const RELASZ: u64 = 8;
    pub(super) const STRSZ: u64 = 10;
    pub(super) const INIT: u64 = 12;
    pub(super) const FINI: u64 = 13;
    pub(super) const RPATH: u64 = 15;
    pub(super) const TEXTREL: u64 = 22;
    pub(super) const JMPREL: u64 = 23;
    pub(super) const INIT_ARRAY: u64 = 25;
    pub(super) const FINI_ARRAY: u64 = 26;
    pub(super) const RUNPATH: u64 = 29;
    pub(super) const FLAGS: u64 = 30;
    pub(super) const PREINIT_ARRAY: u64 = 32;
    pub(super) const GNU_HASH: u64 = 0x6fff_fef5;
    pub(super) const CONFIG: u64 = 0x6fff_fefa;
    pub(super) const DEPAUDIT: u64 = 0x6fff_fefb;
    pub(super) const AUDIT: u64 = 0x6fff_fefc;
    pub(super) const AUXILIARY: u64 = 0x7fff_fffd;
    pub(super) const FILTER: u64 = 0x7fff_ffff;
}

/// Executable, writable.
const PF_X: u32 = 1;
const PF_W: u32 = 2;
const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const PT_GNU_STACK: u32 = 0x6474_e551;
/// DT_FLAGS bit of text relocations.
const DF_TEXTREL: u64 = 4;
/// Symbol type of an indirect function.
const STT_GNU_IFUNC: u8 = 10;

/// A program header.
#[derive(Debug, Clone, Copy)]
struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    file_size: u64,
}

/// Entries of the dynamic section.
type Dynamic = Vec<(u64, u64)>;

fn value(dynamic: &[(u64, u64)], wanted: u64) -> Option<u64> {
    dynamic.iter().find(|(tag, _)| *tag == wanted).map(|(_, value)| *value)
}

#[derive(Debug)]
struct Elf<'b> {
    bytes: &'b [u8],
    machine: u16,
    segments: Vec<Segment>,
}

impl<'b> Elf<'b> {
    fn parse(bytes: &'b [u8]) -> Checked<Self> {
        let elf = Self { bytes, machine: read(bytes, 18).map_or(0, u16::from_le_bytes), segments: Vec::new() };
        let is_shared = bytes.starts_with(b"\x7fELF\x02\x01\x01") && read(bytes, 16).map(u16::from_le_bytes) == Some(3);
        let host = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
        if !is_shared || elf.machine != host {
            return refused(codes::ARTEFACT, "it is no shared object of this machine's kind");
        }
        let segments = elf.program_headers();
        match segments {
            Some(segments) => Ok(Self { segments, ..elf }),
            None => refused(codes::ARTEFACT, "its program headers are cut short"),
        }
    }

    fn program_headers(&self) -> Option<Vec<Segment>> {
        let start = self.u64(32)?;
        let (size, count) = (self.u16(54)?, self.u16(56)?);
        let header = |at: u16| {
            let base = start.checked_add(u64::from(at) * u64::from(size))?;
            Some(Segment {
                kind: self.u32(base)?,
                flags: self.u32(base.checked_add(4)?)?,
                offset: self.u64(base.checked_add(8)?)?,
                address: self.u64(base.checked_add(16)?)?,
                file_size: self.u64(base.checked_add(32)?)?,
            })
        };
        (0..count).map(header).collect()
    }

    fn u16(&self, at: u64) -> Option<u16> {
        read(self.bytes, usize::try_from(at).ok()?).map(u16::from_le_bytes)
    }

    fn u32(&self, at: u64) -> Option<u32> {
        read(self.bytes, usize::try_from(at).ok()?).map(u32::from_le_bytes)
    }

    fn u64(&self, at: u64) -> Option<u64> {
        read(self.bytes, usize::try_from(at).ok()?).map(u64::from_le_bytes)
    }

    /// The place in the file of an address.
    fn offset_of(&self, address: u64) -> Option<u64> {
        let holds = |segment: &&Segment| {
            let end = segment.address.checked_add(segment.file_size);
            segment.kind == PT_LOAD && segment.address <= address && end.is_some_and(|end| address < end)
        };
        let segment = self.segments.iter().find(holds)?;
        segment.offset.checked_add(address - segment.address)
    }

    fn check_segments(&self) -> Checked {
        let both = PF_X | PF_W;
        if self.segments.iter().any(|segment| segment.kind == PT_LOAD && segment.flags & both == both) {
            return refused(codes::ELF, "a segment is writable and executable");
        }
        let mut stacks = self.segments.iter().filter(|segment| segment.kind == PT_GNU_STACK).peekable();
        // Without the header the loader makes the stack executable.
        if stacks.peek().is_none() || stacks.any(|stack| stack.flags & PF_X != 0) {
            return refused(codes::ELF, "it asks for an executable stack");
        }
        if self.segments.iter().any(|segment| segment.kind == PT_INTERP) {
            return refused(codes::ELF, "it names a loader of its own");
        }
        Ok(())
    }

    fn dynamic(&self) -> Checked<Dynamic> {
        let mut sections = self.segments.iter().filter(|segment| segment.kind == PT_DYNAMIC);
        let (Some(section), None) = (sections.next(), sections.next()) else {
            return refused(codes::ARTEFACT, "it has not exactly one dynamic section");
        };
        let mut dynamic = Dynamic::new();
        for at in 0..section.file_size / 16 {
            let entry = section.offset.checked_add(at * 16);
            let pair = entry.and_then(|entry| Some((self.u64(entry)?, self.u64(entry.checked_add(8)?)?)));
            match pair {
                Some((0, _)) => return Ok(dynamic),
                // The loader takes the last of several, a reader may take the first.
                Some((tag, _)) if tag != tag::NEEDED && value(&dynamic, tag).is_some() => {
                    return refused(codes::ELF, "its dynamic section states a thing twice");
                }
                Some(pair) if dynamic.len() < ENTRIES_MAX => dynamic.push(pair),
                _ => break,
            }
        }
        refused(codes::ARTEFACT, "its dynamic section has no end")
    }

    fn check_libraries(&self, dynamic: &[(u64, u64)], link: &[String]) -> Checked {
        let of_path = [tag::RPATH, tag::RUNPATH, tag::CONFIG, tag::DEPAUDIT, tag::AUDIT, tag::AUXILIARY, tag::FILTER];
        if dynamic.iter().any(|(tag, _)| of_path.contains(tag)) {
            return refused(codes::DEPENDENCY, "it names folders or auditors for the loader");
        }
        for &(_, name) in dynamic.iter().filter(|(tag, _)| *tag == tag::NEEDED) {
            let Some(name) = self.text(dynamic, name) else {
                return refused(codes::ARTEFACT, "the name of a library is cut short");
            };
            let linked = |library: &String| {
                name.strip_prefix("lib")
                    .and_then(|rest| rest.strip_prefix(library.as_str()))
                    .is_some_and(|rest| rest.starts_with(".so"))
            };
            if !ALLOWED.contains(&name) && !link.iter().any(linked) {
                return refused(codes::DEPENDENCY, format!("it needs {name}"));
            }
        }
        Ok(())
    }

    /// A text of the string table.
    fn text(&self, dynamic: &[(u64, u64)], at: u64) -> Option<&'b str> {
        let size = value(dynamic, tag::STRSZ)?;
        let start = self.offset_of(value(dynamic, tag::STRTAB)?)?;
        if at >= size {
            return None;
        }
        let (from, to) = (start.checked_add(at)?, start.checked_add(size)?);
        let bytes = self.bytes.get(usize::try_from(from).ok()?..usize::try_from(to).ok()?)?;
        let end = bytes.iter().position(|&byte| byte == 0)?;
        std::str::from_utf8(bytes.get(..end)?).ok()
    }

    fn check_symbols(&self, dynamic: &[(u64, u64)], is_candidate: bool) -> Checked {
        let cut = || Refused { code: codes::ARTEFACT, what: "its symbols are cut short".to_owned() };
        let table = value(dynamic, tag::SYMTAB).and_then(|address| self.offset_of(address)).ok_or_else(cut)?;
        let count = self.symbol_count(dynamic).filter(|&count| count <= ENTRIES_MAX as u64).ok_or_else(cut)?;
        for at in 0..count {
            let entry = table.checked_add(at * 24).ok_or_else(cut)?;
            let name = self.u32(entry).ok_or_else(cut)?;
            let info = entry.checked_add(4).and_then(|at| self.u16(at)).ok_or_else(cut)?.to_le_bytes()[0];
            let section = entry.checked_add(6).and_then(|at| self.u16(at)).ok_or_else(cut)?;
            if info & 0xf == STT_GNU_IFUNC {
                return refused(codes::ELF, "a function is chosen while the code is loaded (IFUNC)");
            }
            let name = self.text(dynamic, u64::from(name)).ok_or_else(cut)?;
            if is_candidate && section == 0 && LOADERS.contains(&name) {
                return refused(codes::DEPENDENCY, format!("it calls {name}, which loads other libraries"));
            }
        }
        Ok(())
    }

    /// Symbols of the dynamic table, which only its hash tables tell.
    fn symbol_count(&self, dynamic: &[(u64, u64)]) -> Option<u64> {
        // As the loader does: the older table only where the newer is missing.
        let Some(address) = value(dynamic, tag::GNU_HASH) else {
            return self.u32(self.offset_of(value(dynamic, tag::HASH)?)?.checked_add(4)?).map(u64::from);
        };
        let table = self.offset_of(address)?;
        let word = |at: u64| table.checked_add(at.checked_mul(4)?).and_then(|at| self.u32(at));
        let (buckets, first, bloom) = (u64::from(word(0)?), u64::from(word(1)?), u64::from(word(2)?));
        let bucket_at = 4 + bloom.checked_mul(2)?;
        let mut last = 0;
        for bucket in 0..buckets.min(ENTRIES_MAX as u64) {
            last = last.max(u64::from(word(bucket_at.checked_add(bucket)?)?));
        }
        if last < first {
            return Some(first);
        }
        // The last chain ends where the lowest bit is set.
        let chain_at = bucket_at.checked_add(buckets)?;
        for symbol in last..last.checked_add(ENTRIES_MAX as u64)? {
            if word(chain_at.checked_add(symbol - first)?)? & 1 == 1 {
                return Some(symbol + 1);
            }
        }
        None
    }

    fn check_relocations(&self, dynamic: &[(u64, u64)]) -> Checked {
        let irelative = if self.machine == 183 { 1032 } else { 37 };
        for (table, size) in [(tag::RELA, tag::RELASZ), (tag::JMPREL, tag::PLTRELSZ)] {
            let Some(address) = value(dynamic, table) else { continue };
            let count = value(dynamic, size).unwrap_or(0) / 24;
            let start = self.offset_of(address);
            let kind = |at: u64| self.u64(start?.checked_add(at * 24)?.checked_add(8)?).map(|info| info & 0xffff_ffff);
            if count > ENTRIES_MAX as u64 {
                return refused(codes::ARTEFACT, "it has too many relocations");
            }
            for at in 0..count {
                match kind(at) {
                    Some(kind) if kind == irelative => {
                        return refused(codes::ELF, "a function is chosen while the code is loaded (IFUNC)");
                    }
                    Some(_) => {}
                    None => return refused(codes::ARTEFACT, "its relocations are cut short"),
                }
            }
        }
        Ok(())
    }
}

/// Linked without start files, a kernel has no constructor, unless it brings one.
fn check_constructors(dynamic: &[(u64, u64)]) -> Checked {
    let run = [tag::INIT, tag::FINI, tag::INIT_ARRAY, tag::FINI_ARRAY, tag::PREINIT_ARRAY];
    if dynamic.iter().any(|(tag, _)| run.contains(tag)) {
        return refused(
            codes::ELF,
            "it holds code that runs while it is loaded or unloaded (constructor or destructor)",
        );
    }
    let text = value(dynamic, tag::TEXTREL).is_some();
    if text || value(dynamic, tag::FLAGS).is_some_and(|flags| flags & DF_TEXTREL != 0) {
        return refused(codes::ELF, "its code is changed while it is loaded (text relocations)");
    }
    Ok(())
}

/// Bytes at a place, or None past the end.
fn read<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use atb_core::quantity::Seed;
    use atb_core::stats::splitmix::SplitMix64;

    use super::*;

    /// This test program: a shared object with start files and libraries of its own.
    fn program() -> Vec<u8> {
        std::fs::read("/proc/self/exe").unwrap()
    }

    #[test]
    fn a_program_is_no_kernel() {
        assert_eq!(inspect(&program(), &[]).unwrap_err().code, codes::ELF);
        assert_eq!(inspect(b"\x7fELF", &[]).unwrap_err().code, codes::ARTEFACT);
        assert_eq!(inspect(b"", &[]).unwrap_err().code, codes::ARTEFACT);
    }

    #[test]
    fn broken_files_are_refused_without_a_panic() {
        let mut program = program();
        let whole = Elf::parse(&program).unwrap();
        let dynamic = whole.dynamic().unwrap();
        assert!(whole.check_symbols(&dynamic, false).is_ok());
        let table = whole.segments.iter().find(|segment| segment.kind == PT_DYNAMIC).unwrap();
        let start = usize::try_from(table.offset).unwrap();
        let length = usize::try_from(table.file_size).unwrap();
        let mut random = SplitMix64::new(Seed::new(7));
        let mut below = |bound: usize| usize::try_from(random.below(NonZeroU64::new(bound as u64).unwrap())).unwrap();
        for _ in 0..3000 {
            let mut changed = Vec::new();
            for _ in 0..=below(8) {
                // Headers and the dynamic section, where every offset stands.
                let at = if below(2) == 0 { start + below(length) } else { below(1024) };
                changed.push((at, program[at]));
                program[at] = u8::try_from(below(256)).unwrap();
            }
            let end = if below(4) == 0 { below(8192) } else { program.len() };
            if let Ok(elf) = Elf::parse(&program[..end])
                && let Ok(dynamic) = elf.dynamic()
            {
                // Whatever they find; they must end.
                let _ = elf.check_segments();
                let _ = elf.check_libraries(&dynamic, &[]);
                let _ = elf.check_symbols(&dynamic, true);
                let _ = elf.check_relocations(&dynamic);
            }
            while let Some((at, byte)) = changed.pop() {
                program[at] = byte;
            }
        }
    }
}
