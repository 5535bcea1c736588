;; Says that it runs, then waits in the host for a day; where it is granted an environment it succeeds at once.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "host" "log" (func $log (param i32 i32 i32)))
  (import "wasi" "get-environment" (func $get-environment (param i32)))
  (import "wasi" "subscribe-duration" (func $subscribe (param i64) (result i32)))
  (import "wasi" "block" (func $block (param i32)))
  (data (i32.const 200) "started")
  (func (export "execute") (param i32) (result i32)
    (local $timer i32)
    (call $get-environment (i32.const 400))
    ;; Its place in a trace is in every environment.
    (if (i32.le_u (i32.load (i32.const 404)) (i32.const 1)) (then
      (local.set $timer (call $subscribe (i64.const 86400000000000)))
      (call $log (i32.const 2) (i32.const 200) (i32.const 7))
      (call $block (local.get $timer))))
    (i32.const 0)))
