;; Returns what it was told: message = idempotency key, detail = config, code = attempt * 100 + dispatch * 10 + resumed.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param $invocation i32) (result i32)
    (i32.store (i32.const 0) (i32.add
      (i32.add
        (i32.mul (i32.const 100) (i32.load offset=40 (local.get $invocation)))
        (i32.mul (i32.const 10) (i32.load offset=44 (local.get $invocation))))
      (i32.load8_u offset=48 (local.get $invocation))))
    (i64.store (i32.const 4) (i64.load offset=72 (local.get $invocation)))
    (i32.store8 (i32.const 20) (i32.const 1))
    (i64.store (i32.const 24) (i64.load offset=80 (local.get $invocation)))
    (i32.const 0)))
