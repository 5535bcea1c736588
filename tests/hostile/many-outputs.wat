;;! does = "Returns the same output a million times."
;;! comes = "Refused by the size that they have together."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["output over its limit of 8 MiB"]
;;! grown-mib = 200
;; Returns the same output a million times.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (local $at i32)
    (drop (memory.grow (i32.const 256)))
    (local.set $at (i32.const 65536))
    (loop $next
      (i64.store (local.get $at) (i64.const 0x0000000100000012))
      (i64.store offset=8 (local.get $at) (i64.const 0x0000000100000012))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 16065536))))
    (i32.store (i32.const 12) (i32.const 65536))
    (i32.store (i32.const 16) (i32.const 1000000))
    (i32.const 0)))
