;; Does what a Rust guest does when it panics.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-stderr" (func $get-stderr (result i32)))
  (import "wasi" "write" (func $write (param i32 i32 i32 i32)))
  (data (i32.const 200) "\nthread '<unnamed>' (1) panicked at src/lib.rs:7:9:\nno such fruit\nnote: run with `RUST_BACKTRACE=1`\n")
  (func (export "execute") (param i32) (result i32)
    (call $write (call $get-stderr) (i32.const 200) (i32.const 101) (i32.const 400))
    (unreachable)))
