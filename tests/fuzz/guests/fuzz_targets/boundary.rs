#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| phasm_fuzz_guests::ARENA.boundary(data));
