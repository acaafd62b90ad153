//! What a shared object may hold, read from its bytes before anything loads it.
//!
//! Constructors and resolvers run while the code is loaded, before any check of the harness; libraries beyond the C library could do the
//! kernel's work; memory that is writable and executable hides code from every reader. What is not known to be harmless is refused: the
//! entries of the dynamic section and the kinds of relocations are lists of what a kernel needs.

mod elf;
#[cfg(test)]
mod tests;

use atb_core::codes::{self, Code};

use elf::{AARCH64, Elf, PF_W, PF_X, PT_DYNAMIC, PT_GNU_STACK, PT_INTERP, PT_LOAD, PT_TLS, Relocation, Segment, tag};

/// Libraries that kernels may use. The loader's own name stands in what uses its variables.
const ALLOWED: &[&str] = &["libc.so.6", "libm.so.6", "libmvec.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"];
/// Functions that load other libraries.
const LOADERS: &[&str] = &["dlopen", "dlmopen", "dlsym", "dlvsym", "__libc_dlopen_mode"];
/// Entries of the dynamic section that tell the loader where to find libraries, or what may watch it.
const PATHS: &[u64] = &[tag::RPATH, tag::RUNPATH, tag::CONFIG, tag::DEPAUDIT, tag::AUDIT, tag::AUXILIARY, tag::FILTER];
/// Entries that make the loader run code of the object.
const RUN: &[u64] = &[tag::INIT, tag::FINI, tag::INIT_ARRAY, tag::FINI_ARRAY, tag::PREINIT_ARRAY];
/// Entries that a kernel needs, all with one value but NEEDED.
const NEEDFUL: &[u64] = &[
    tag::NEEDED,
    tag::PLTRELSZ,
    tag::PLTGOT,
    tag::HASH,
    tag::STRTAB,
    tag::SYMTAB,
    tag::RELA,
    tag::RELASZ,
    tag::RELAENT,
    tag::STRSZ,
    tag::SYMENT,
    tag::SONAME,
    tag::SYMBOLIC,
    tag::PLTREL,
    tag::JMPREL,
    tag::BIND_NOW,
    tag::FLAGS,
    tag::GNU_HASH,
    tag::VERSYM,
    tag::RELACOUNT,
    tag::FLAGS_1,
    tag::VERNEED,
    tag::VERNEEDNUM,
    tag::AARCH64_BTI_PLT,
    tag::AARCH64_PAC_PLT,
    tag::AARCH64_VARIANT_PCS,
];
/// DT_FLAGS bit of text relocations.
const DF_TEXTREL: u64 = 4;
/// Symbol type of an indirect function.
const STT_GNU_IFUNC: u8 = 10;

/// Why a shared object is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {what}")]
pub(crate) struct Refused {
    /// The code.
    pub(crate) code: Code,
    /// What was found.
    pub(crate) what: String,
}

type Checked = Result<(), Refused>;

fn refused<T>(code: Code, what: impl Into<String>) -> Result<T, Refused> {
    Err(Refused { code, what: what.into() })
}

/// Inspects a shared object that must define a function. `link` names the libraries that a vendor baseline is linked with.
pub(crate) fn inspect(bytes: &[u8], function: &str, link: &[String]) -> Checked {
    let elf = Elf::parse(bytes).or_else(|what| refused(codes::ARTEFACT, what))?;
    check_segments(&elf)?;
    check_dynamic(&elf)?;
    check_libraries(&elf, link)?;
    let symbols = check_symbols(&elf, function, link.is_empty())?;
    check_relocations(&elf, symbols)
}

fn check_segments(elf: &Elf<'_>) -> Checked {
    let both = PF_X | PF_W;
    if elf.segments.iter().any(|segment| segment.kind == PT_LOAD && segment.flags & both == both) {
        return refused(codes::ELF, "a segment is writable and executable");
    }
    let mut stacks = elf.segments.iter().filter(|segment| segment.kind == PT_GNU_STACK).peekable();
    // Without the header the loader makes the stack executable.
    if stacks.peek().is_none() || stacks.any(|stack| stack.flags & PF_X != 0) {
        return refused(codes::ELF, "it asks for an executable stack");
    }
    if elf.segments.iter().any(|segment| segment.kind == PT_INTERP) {
        return refused(codes::ELF, "it names a loader of its own");
    }
    if elf.segments.iter().any(|segment| segment.kind == PT_TLS) {
        return refused(codes::ELF, "it has thread-local storage, which would outlive a call");
    }
    Ok(())
}

/// Linked without start files, a kernel has no constructor, unless it brings one.
fn check_dynamic(elf: &Elf<'_>) -> Checked {
    let any = |tags: &[u64]| elf.dynamic.iter().any(|(tag, _)| tags.contains(tag));
    if any(RUN) {
        return refused(
            codes::ELF,
            "it holds code that runs while it is loaded or unloaded (constructor or destructor)",
        );
    }
    if any(&[tag::TEXTREL]) || elf.value(tag::FLAGS).is_some_and(|flags| flags & DF_TEXTREL != 0) {
        return refused(codes::ELF, "its code is changed while it is loaded (text relocations)");
    }
    if any(PATHS) {
        return refused(codes::DEPENDENCY, "it names folders or auditors for the loader");
    }
    for (at, (tag, _)) in elf.dynamic.iter().enumerate() {
        if !NEEDFUL.contains(tag) {
            return refused(codes::ELF, format!("its dynamic section holds an entry {tag:#x}, which no kernel needs"));
        }
        // The loader takes the last of several, a reader may take the first.
        if *tag != tag::NEEDED && elf.dynamic.iter().take(at).any(|(earlier, _)| earlier == tag) {
            return refused(codes::ELF, "its dynamic section states a thing twice");
        }
    }
    let sizes = [(tag::SYMENT, 24), (tag::RELAENT, 24), (tag::PLTREL, tag::RELA)];
    if sizes.iter().any(|(tag, size)| elf.value(*tag).is_some_and(|value| value != *size)) {
        return refused(codes::ELF, "its tables have entries of an unknown form");
    }
    Ok(())
}

/// The writable segment that holds so many bytes at an address.
fn writable<'e>(elf: &'e Elf<'_>, address: u64, size: u64) -> Option<&'e Segment> {
    let loaded = elf.segments.iter().filter(|segment| segment.kind == PT_LOAD && segment.flags & PF_W != 0);
    loaded.into_iter().find(|segment| segment.holds(address, size))
}

fn check_libraries(elf: &Elf<'_>, link: &[String]) -> Checked {
    for &(_, name) in elf.dynamic.iter().filter(|(tag, _)| *tag == tag::NEEDED) {
        let Some(name) = elf.text(name) else {
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

/// Returns how many symbols there are.
fn check_symbols(elf: &Elf<'_>, function: &str, is_candidate: bool) -> Result<u64, Refused> {
    let Some(symbols) = elf.symbols() else { return refused(codes::ARTEFACT, "its symbols are cut short") };
    for symbol in &symbols {
        if symbol.kind == STT_GNU_IFUNC {
            return refused(codes::ELF, "a function is chosen while the code is loaded (IFUNC)");
        }
        // Also one that it defines itself: by that name it may reach the library's.
        if is_candidate && LOADERS.contains(&symbol.name) {
            return refused(codes::DEPENDENCY, format!("it names {}, which loads other libraries", symbol.name));
        }
    }
    if !symbols.iter().any(|symbol| symbol.is_defined && symbol.name == function) {
        return refused(codes::NO_SYMBOL, format!("it does not export {function}"));
    }
    Ok(symbols.len() as u64)
}

/// Relocations of the kinds that a kernel needs (ABS64, GLOB_DAT, JUMP_SLOT, RELATIVE), which write a pointer each into its own data.
fn check_relocations(elf: &Elf<'_>, symbols: u64) -> Checked {
    let (needful, irelative) =
        if elf.machine == AARCH64 { ([257, 1025, 1026, 1027], 1032) } else { ([1, 6, 7, 8], 37) };
    let Some(relocations) = elf.relocations() else {
        return refused(codes::ARTEFACT, "its relocations are cut short");
    };
    let section = elf.segments.iter().find(|segment| segment.kind == PT_DYNAMIC);
    for Relocation { address, kind, symbol } in relocations {
        if kind == irelative {
            return refused(codes::ELF, "a function is chosen while the code is loaded (IFUNC)");
        }
        if !needful.contains(&kind) {
            return refused(codes::ELF, format!("it has a relocation of kind {kind}, which no kernel needs"));
        }
        if symbol >= symbols {
            return refused(codes::ELF, "a relocation names a symbol that its hash table does not hold");
        }
        let rules = section.is_some_and(|section| {
            address < section.address.saturating_add(section.memory_size) && section.address < address.saturating_add(8)
        });
        if writable(elf, address, 8).is_none() || rules {
            return refused(codes::ELF, "a relocation writes beyond the object's own data");
        }
    }
    Ok(())
}
