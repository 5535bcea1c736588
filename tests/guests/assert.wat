;; Does what most guests do when they give up: says why on standard error, then traps. It has a log line before that, and
;; its last line has no end.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "host" "log" (func $log (param i32 i32 i32)))
  (import "wasi" "get-stderr" (func $get-stderr (result i32)))
  (import "wasi" "write" (func $write (param i32 i32 i32 i32)))
  (data (i32.const 200) "started")
  (data (i32.const 220) "main.c:7: work\nAssertion failed: fruit > 0")
  (func (export "execute") (param i32) (result i32)
    (call $log (i32.const 2) (i32.const 200) (i32.const 7))
    (call $write (call $get-stderr) (i32.const 220) (i32.const 42) (i32.const 400))
    (unreachable)))
