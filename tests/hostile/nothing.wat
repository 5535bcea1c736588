;;! does = "Returns an output without a value."
;;! comes = "Refused with the place of the mistake."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["output `a` is not JSON"]
;; Returns an empty text.
(core module $guest
  (import "libc" "memory" (memory 1))
  (data (i32.const 200) "a")
  (data (i32.const 16384) "")
  (func (export "execute") (param i32) (result i32)
    ;; the output `a`
    (i32.store (i32.const 100) (i32.const 200))
    (i32.store (i32.const 104) (i32.const 1))
    (i32.store (i32.const 108) (i32.const 16384))
    (i32.store (i32.const 112) (i32.const 0))
    (i32.store (i32.const 12) (i32.const 100))
    (i32.store (i32.const 16) (i32.const 1))
    (i32.const 0)))
