//! A bounded reader of 64-bit little-endian ELF shared objects.
//!
//! It follows what the loader follows: program headers, the dynamic section at its address, and the tables that the section names; never the
//! section headers. No offset is trusted, and every reading ends.

/// Most symbols, relocations and dynamic entries that are read; a kernel has a few dozen.
pub(super) const ENTRIES_MAX: u64 = 1 << 20;
/// The page size by which segments may not share memory.
const PAGE: u64 = 4096;

pub(super) const PT_LOAD: u32 = 1;
pub(super) const PT_DYNAMIC: u32 = 2;
pub(super) const PT_INTERP: u32 = 3;
pub(super) const PT_TLS: u32 = 7;
pub(super) const PT_GNU_STACK: u32 = 0x6474_e551;
/// Executable, writable.
pub(super) const PF_X: u32 = 1;
pub(super) const PF_W: u32 = 2;
/// The machine of AArch64.
pub(super) const AARCH64: u16 = 183;
/// The machine of x86-64.
pub(super) const X86_64: u16 = 62;

/// Tags of the dynamic section.
pub(super) mod tag {
    pub(crate) const NEEDED: u64 = 1;
    pub(crate) const PLTRELSZ: u64 = 2;
    pub(crate) const PLTGOT: u64 = 3;
    pub(crate) const HASH: u64 = 4;
    pub(crate) const STRTAB: u64 = 5;
    pub(crate) const SYMTAB: u64 = 6;
    pub(crate) const RELA: u64 = 7;
    pub(crate) const RELASZ: u64 = 8;
    pub(crate) const RELAENT: u64 = 9;
    pub(crate) const STRSZ: u64 = 10;
    pub(crate) const SYMENT: u64 = 11;
    pub(crate) const INIT: u64 = 12;
    pub(crate) const FINI: u64 = 13;
    pub(crate) const SONAME: u64 = 14;
    pub(crate) const RPATH: u64 = 15;
    pub(crate) const SYMBOLIC: u64 = 16;
    pub(crate) const PLTREL: u64 = 20;
    pub(crate) const TEXTREL: u64 = 22;
    pub(crate) const JMPREL: u64 = 23;
    pub(crate) const BIND_NOW: u64 = 24;
    pub(crate) const INIT_ARRAY: u64 = 25;
    pub(crate) const FINI_ARRAY: u64 = 26;
    pub(crate) const RUNPATH: u64 = 29;
    pub(crate) const FLAGS: u64 = 30;
    pub(crate) const PREINIT_ARRAY: u64 = 32;
    pub(crate) const GNU_HASH: u64 = 0x6fff_fef5;
    pub(crate) const CONFIG: u64 = 0x6fff_fefa;
    pub(crate) const DEPAUDIT: u64 = 0x6fff_fefb;
    pub(crate) const AUDIT: u64 = 0x6fff_fefc;
    pub(crate) const VERSYM: u64 = 0x6fff_fff0;
    pub(crate) const RELACOUNT: u64 = 0x6fff_fff9;
    pub(crate) const FLAGS_1: u64 = 0x6fff_fffb;
    pub(crate) const VERNEED: u64 = 0x6fff_fffe;
    pub(crate) const VERNEEDNUM: u64 = 0x6fff_ffff;
    pub(crate) const AARCH64_BTI_PLT: u64 = 0x7000_0001;
    pub(crate) const AARCH64_PAC_PLT: u64 = 0x7000_0003;
    pub(crate) const AARCH64_VARIANT_PCS: u64 = 0x7000_0005;
    pub(crate) const AUXILIARY: u64 = 0x7fff_fffd;
    pub(crate) const FILTER: u64 = 0x7fff_ffff;
}

/// A program header.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub(super) kind: u32,
    pub(super) flags: u32,
    pub(super) offset: u64,
    pub(super) address: u64,
    pub(super) file_size: u64,
    pub(super) memory_size: u64,
}

impl Segment {
    /// True if `size` bytes at an address lie in the segment's memory.
    pub(super) fn holds(&self, address: u64, size: u64) -> bool {
        let (end, last) = (self.address.checked_add(self.memory_size), address.checked_add(size));
        self.address <= address && end.zip(last).is_some_and(|(end, last)| last <= end)
    }
}

/// A symbol of the dynamic table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Symbol<'b> {
    pub(super) name: &'b str,
    /// Low four bits of the info byte.
    pub(super) kind: u8,
    /// False if another object must define it.
    pub(super) is_defined: bool,
}

/// A relocation with addend.
#[derive(Debug, Clone, Copy)]
pub(super) struct Relocation {
    pub(super) address: u64,
    pub(super) kind: u64,
    pub(super) symbol: u64,
}

/// A shared object.
#[derive(Debug)]
pub(super) struct Elf<'b> {
    bytes: &'b [u8],
    pub(super) machine: u16,
    pub(super) segments: Vec<Segment>,
    /// Entries of the dynamic section as (tag, value), without the end.
    pub(super) dynamic: Vec<(u64, u64)>,
}

/// What is broken, in words.
pub(super) type Read<T> = Result<T, &'static str>;

impl<'b> Elf<'b> {
    pub(super) fn parse(bytes: &'b [u8]) -> Read<Self> {
        let machine = read(bytes, 18).map_or(0, u16::from_le_bytes);
        let is_shared = bytes.starts_with(b"\x7fELF\x02\x01\x01") && read(bytes, 16).map(u16::from_le_bytes) == Some(3);
        let host = if cfg!(target_arch = "aarch64") { AARCH64 } else { X86_64 };
        if !is_shared || machine != host {
            return Err("it is no shared object of this machine's kind");
        }
        let mut elf = Self { bytes, machine, segments: Vec::new(), dynamic: Vec::new() };
        elf.segments = elf.program_headers().ok_or("its program headers are cut short")?;
        elf.check_map()?;
        elf.dynamic = elf.read_dynamic()?;
        Ok(elf)
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
                memory_size: self.u64(base.checked_add(40)?)?,
            })
        };
        // The loader reads headers of its own size, whatever the file states.
        if size == 56 { (0..count).map(header).collect() } else { None }
    }

    /// Segments in ascending order on pages of their own: otherwise memory would not hold what the file shows at an address.
    fn check_map(&self) -> Read<()> {
        let mut free = 0;
        for segment in self.segments.iter().filter(|segment| segment.kind == PT_LOAD) {
            let end = segment.address.checked_add(segment.memory_size).filter(|end| *end < u64::MAX - PAGE);
            let end = end.ok_or("a segment has no end")?;
            let aligned = segment.address % PAGE == segment.offset % PAGE && segment.file_size <= segment.memory_size;
            if segment.address / PAGE * PAGE < free || !aligned {
                return Err("its segments share memory, or are not mapped as they stand in the file");
            }
            free = end.next_multiple_of(PAGE);
        }
        Ok(())
    }

    fn read_dynamic(&self) -> Read<Vec<(u64, u64)>> {
        let mut sections = self.segments.iter().filter(|segment| segment.kind == PT_DYNAMIC);
        let (Some(section), None) = (sections.next(), sections.next()) else {
            return Err("it has not exactly one dynamic section");
        };
        // The loader reads it in memory; a reader of the file may look elsewhere.
        let start = self.mapped(section.address, section.file_size, |_| true);
        let start = start.filter(|start| *start == section.offset && section.memory_size == section.file_size);
        let start = start.ok_or("its dynamic section is not where it is mapped")?;
        let mut dynamic = Vec::new();
        let mut ended = false;
        for at in 0..(section.file_size / 16).min(ENTRIES_MAX) {
            let entry = start.checked_add(at * 16);
            let pair = entry.and_then(|entry| Some((self.u64(entry)?, self.u64(entry.checked_add(8)?)?)));
            match pair {
                // Behind the end stands nothing, or someone has put an end before the linker's own entries.
                Some(pair) if ended && pair != (0, 0) => return Err("its dynamic section goes on behind its end"),
                Some((0, _)) => ended = true,
                Some(pair) => dynamic.push(pair),
                None => return Err("its dynamic section is cut short"),
            }
        }
        if ended {
            return Ok(dynamic);
        }
        Err("its dynamic section has no end")
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

    /// The place in the file of so many bytes at an address, all from one segment, where the loader finds these very bytes. Tables are not
    /// writable: what the loader reads while it relocates may not be what it relocates.
    fn table(&self, address: u64, size: u64) -> Option<u64> {
        self.mapped(address, size, |segment| segment.flags & PF_W == 0)
    }

    fn mapped(&self, address: u64, size: u64, suits: impl Fn(&Segment) -> bool) -> Option<u64> {
        let last = address.checked_add(size)?;
        let holds = |segment: &&Segment| {
            let end = segment.address.checked_add(segment.file_size);
            segment.kind == PT_LOAD
                && suits(segment)
                && segment.address <= address
                && end.is_some_and(|end| address < end && last <= end)
        };
        let segment = self.segments.iter().find(holds)?;
        segment.offset.checked_add(address - segment.address)
    }

    /// The value of the dynamic section's first entry of a kind.
    pub(super) fn value(&self, wanted: u64) -> Option<u64> {
        self.dynamic.iter().find(|(tag, _)| *tag == wanted).map(|(_, value)| *value)
    }

    /// A text of the string table.
    pub(super) fn text(&self, at: u64) -> Option<&'b str> {
        let size = self.value(tag::STRSZ)?;
        let start = self.table(self.value(tag::STRTAB)?, size)?;
        if at >= size {
            return None;
        }
        let (from, to) = (start.checked_add(at)?, start.checked_add(size)?);
        let bytes = self.bytes.get(usize::try_from(from).ok()?..usize::try_from(to).ok()?)?;
        let end = bytes.iter().position(|&byte| byte == 0)?;
        std::str::from_utf8(bytes.get(..end)?).ok()
    }

    /// All symbols of the dynamic table.
    pub(super) fn symbols(&self) -> Option<Vec<Symbol<'b>>> {
        let count = self.symbol_count().filter(|&count| count <= ENTRIES_MAX)?;
        let table = self.table(self.value(tag::SYMTAB)?, count * 24)?;
        let symbol = |at: u64| {
            let entry = table.checked_add(at * 24)?;
            let name = self.text(u64::from(self.u32(entry)?))?;
            let kind = self.u16(entry.checked_add(4)?)?.to_le_bytes()[0] & 0xf;
            Some(Symbol { name, kind, is_defined: self.u16(entry.checked_add(6)?)? != 0 })
        };
        (0..count).map(symbol).collect()
    }

    /// Symbols of the dynamic table, which only the loader's hash table tells: the newer one, which it prefers and which must be there.
    fn symbol_count(&self) -> Option<u64> {
        let address = self.value(tag::GNU_HASH)?;
        let word = |at: u64| {
            let place = address.checked_add(at.checked_mul(4)?)?;
            self.u32(self.table(place, 4)?).map(u64::from)
        };
        let (buckets, first, bloom) = (word(0)?, word(1)?, word(2)?);
        let bucket_at = 4 + bloom.checked_mul(2)?;
        let mut last = None;
        for bucket in 0..(buckets <= ENTRIES_MAX).then_some(buckets)? {
            match word(bucket_at.checked_add(bucket)?)? {
                0 => {}
                // The loader would take words of the table for the chain of a symbol that is not hashed.
                symbol if symbol < first => return None,
                symbol => last = last.max(Some(symbol)),
            }
        }
        let Some(last) = last else { return Some(first) };
        // The last chain ends where the lowest bit is set.
        let chain_at = bucket_at.checked_add(buckets)?;
        for symbol in last..last.checked_add(ENTRIES_MAX)? {
            if word(chain_at.checked_add(symbol - first)?)? & 1 == 1 {
                return Some(symbol + 1);
            }
        }
        None
    }

    /// All relocations, those of the procedure linkage table too.
    pub(super) fn relocations(&self) -> Option<Vec<Relocation>> {
        let mut all = Vec::new();
        for (table, size) in [(tag::RELA, tag::RELASZ), (tag::JMPREL, tag::PLTRELSZ)] {
            let Some(address) = self.value(table) else { continue };
            let (size, each) = (self.value(size)?, 24);
            let count = (size % each == 0 && size / each <= ENTRIES_MAX).then_some(size / each)?;
            let start = self.table(address, size)?;
            for at in 0..count {
                let entry = start.checked_add(at * 24)?;
                let info = self.u64(entry.checked_add(8)?)?;
                all.push(Relocation { address: self.u64(entry)?, kind: info & 0xffff_ffff, symbol: info >> 32 });
            }
        }
        Some(all)
    }
}

/// Bytes at a place, or None past the end.
fn read<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}
