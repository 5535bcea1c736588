;; Succeeds when it is told a remaining time of at most an hour, fails when it is told none.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param $invocation i32) (result i32)
    (i32.store (i32.const 0) (select
      (i32.const 0)
      (i32.const 2)
      (i32.and
        (i32.load8_u offset=56 (local.get $invocation))
        (i64.le_u (i64.load offset=64 (local.get $invocation)) (i64.const 3600000)))))
    (i32.const 0)))
