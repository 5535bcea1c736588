;;! does = "Returns a number that is too large for any."
;;! comes = "Refused, or taken for what it is, without counting to it."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["number 1e1000000 cannot be kept exactly"]
;; Returns a number with a million in its exponent.
(core module $guest
  (import "libc" "memory" (memory 1))
  (data (i32.const 200) "a")
  (data (i32.const 16384) "1e1000000")
  (func (export "execute") (param i32) (result i32)
    ;; the output `a`
    (i32.store (i32.const 100) (i32.const 200))
    (i32.store (i32.const 104) (i32.const 1))
    (i32.store (i32.const 108) (i32.const 16384))
    (i32.store (i32.const 112) (i32.const 9))
    (i32.store (i32.const 12) (i32.const 100))
    (i32.store (i32.const 16) (i32.const 1))
    (i32.const 0)))
