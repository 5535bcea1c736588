;; Keeps timers without end.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "subscribe-duration" (func $subscribe (param i64) (result i32)))
  (func (export "execute") (param i32) (result i32)
    (loop $for-ever
      (drop (call $subscribe (i64.const 1)))
      (br $for-ever))
    (unreachable)))
