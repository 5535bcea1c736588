;;! does = "Returns 450 000 numbers in one list."
;;! comes = "Refused by their number before anything is parsed."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["output over its limit of 250000 JSON values"]
;;! grown-mib = 32
;; Returns what takes far more room than its text.
(core module $guest
  (import "libc" "memory" (memory 1))
  (data (i32.const 200) "a")
  (func (export "execute") (param i32) (result i32)
    (local $at i32)
    (drop (memory.grow (i32.const 16)))
    ;; `[0,0,0,…,0]`
    (i32.store8 (i32.const 65535) (i32.const 91))
    (local.set $at (i32.const 65536))
    (loop $next
      (i32.store16 (local.get $at) (i32.const 0x2c30))
      (local.set $at (i32.add (local.get $at) (i32.const 2)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 965536))))
    (i32.store8 (i32.const 965535) (i32.const 93))
    (i32.store (i32.const 100) (i32.const 200))
    (i32.store (i32.const 104) (i32.const 1))
    (i32.store (i32.const 108) (i32.const 65535))
    (i32.store (i32.const 112) (i32.const 900001))
    (i32.store (i32.const 12) (i32.const 100))
    (i32.store (i32.const 16) (i32.const 1))
    (i32.const 0)))
