//! The two things the generated bindings ask of a runtime.

use std::{alloc, alloc::Layout, ptr};

/// Memory for a list on its way to the host; freed when dropped, unless the host is to free it.
pub(crate) struct Cleanup {
    start: *mut u8,
    layout: Layout,
}

impl Cleanup {
    /// Allocates `layout`; null and nothing to free when it is empty.
    pub(crate) fn new(layout: Layout) -> (*mut u8, Option<Self>) {
        if layout.size() == 0 {
            return (ptr::null_mut(), None);
        }
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc::alloc(layout) };
        if start.is_null() {
            alloc::handle_alloc_error(layout);
        }
        (start, Some(Self { start, layout }))
    }

    /// Leaves the memory to the holder of the pointer.
    pub(crate) fn forget(self) {
        std::mem::forget(self);
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        // SAFETY: `start` was allocated with this layout and is freed once.
        unsafe { alloc::dealloc(self.start, self.layout) }
    }
}

/// Nothing to do: on wasm32-wasip2 the standard library exports `cabi_realloc`.
pub(crate) fn maybe_link_cabi_realloc() {}
