;; Suspends, and once it is resumed returns every input, payload included, as an output.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param $invocation i32) (result i32)
    (i32.store (i32.const 12) (i32.load offset=88 (local.get $invocation)))
    (i32.store (i32.const 16) (i32.load offset=92 (local.get $invocation)))
    (i32.store (i32.const 0) (i32.eqz (i32.load8_u offset=48 (local.get $invocation))))
    (i32.const 0)))
