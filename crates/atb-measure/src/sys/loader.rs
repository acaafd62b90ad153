//! Loading a shared object and calling its kernel. Used in workers only.

use std::ffi::{CStr, CString, c_void};

/// A kernel: inputs, outputs, dims and workspace, as pointers.
#[derive(Debug, Clone, Copy)]
pub struct Symbol(*mut c_void);

/// Loads the shared object behind a descriptor of this process and finds a symbol in it.
///
/// Returns the loader's message on failure.
pub fn load(fd: i32, symbol: &str) -> Result<Symbol, LoadFault> {
    let path = CString::new(format!("/proc/self/fd/{fd}")).map_err(|_| LoadFault::Symbol)?;
    let symbol = CString::new(symbol).map_err(|_| LoadFault::Symbol)?;
    // SAFETY: the object was inspected: it has no constructors that the loader would run. Its code is hostile all the same, and this process
    // holds nothing but the candidate.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() {
        return Err(LoadFault::Load(last_message()));
    }
    // SAFETY: the handle is open and the name is a valid C string.
    let address = unsafe { libc::dlsym(handle, symbol.as_ptr()) };
    if address.is_null() { Err(LoadFault::Symbol) } else { Ok(Symbol(address)) }
}

/// Why a shared object could not be used.
#[derive(Debug)]
pub enum LoadFault {
    /// The loader refused it.
    Load(String),
    /// It has no such symbol.
    Symbol,
}

fn last_message() -> String {
    // SAFETY: dlerror returns null or a C string that is valid until the next call in this thread.
    unsafe {
        let message = libc::dlerror();
        if message.is_null() { String::new() } else { CStr::from_ptr(message).to_string_lossy().into_owned() }
    }
}

impl Symbol {
    /// Calls `void f(tensors..., const int64_t *dims, void *ws)` with 2 to 8 tensors.
    ///
    /// # Safety
    /// The pointers must be valid for what the task's prototype does with them. The callee is hostile by assumption, so
    /// this must run in a worker that holds nothing of value.
    pub unsafe fn call_kernel(self, t: &[*mut c_void], dims: *const i64, ws: *mut c_void) {
        type P = *mut c_void;
        type D = *const i64;
        macro_rules! call {
            ($($at:literal)*) => {{
                // SAFETY: the task's prototype has this many tensors; all are pointers, which pass alike in the C ABI.
                let f: unsafe extern "C" fn($(call!(@p $at)),*, D, P) = unsafe { std::mem::transmute(self.0) };
                // SAFETY: the caller vouches for the pointers.
                unsafe { f($(t[$at]),*, dims, ws) }
            }};
            (@p $at:literal) => { P };
        }
        match t.len() {
            2 => call!(0 1),
            3 => call!(0 1 2),
            4 => call!(0 1 2 3),
            5 => call!(0 1 2 3 4),
            6 => call!(0 1 2 3 4 5),
            7 => call!(0 1 2 3 4 5 6),
            8 => call!(0 1 2 3 4 5 6 7),
            _ => {}
        }
    }

    /// Calls `void atb_reference(const void *const *in, double *const *out, const int64_t *dims)`.
    ///
    /// # Safety
    /// The pointers must be valid for what the task's reference does with them.
    pub unsafe fn call_reference(self, inputs: &[*mut c_void], outputs: &[*mut c_void], dims: *const i64) {
        type F = unsafe extern "C" fn(*const *mut c_void, *const *mut c_void, *const i64);
        // SAFETY: the reference has this prototype; it is the task's own code.
        let f: F = unsafe { std::mem::transmute(self.0) };
        // SAFETY: the caller vouches for the pointers.
        unsafe { f(inputs.as_ptr(), outputs.as_ptr(), dims) }
    }
}
