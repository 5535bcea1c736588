;;! does = "Writes the first half of a character to standard output, and ends."
;;! comes = "A line of its log that says that something is missing."
;;!
;;! [expect]
;;! codes = [0]
;; Writes the first of three bytes.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-stdout" (func $get-stdout (result i32)))
  (import "wasi" "write" (func $write (param i32 i32 i32 i32)))
  (data (i32.const 500) "\e2")
  (func (export "execute") (param i32) (result i32)
    (call $write (call $get-stdout) (i32.const 500) (i32.const 1) (i32.const 400))
    (i32.const 0)))
