;; Computes for ever, and says so after every few milliseconds of it.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "host" "log" (func $log (param i32 i32 i32)))
  (data (i32.const 200) "on")
  (func (export "execute") (param i32) (result i32)
    (local $left i32)
    (loop $for-ever
      (local.set $left (i32.const 5000000))
      (loop $work
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (br_if $work (local.get $left)))
      (call $log (i32.const 2) (i32.const 200) (i32.const 2))
      (br $for-ever))
    (unreachable)))
