;;! does = "Returns an output that is not JSON."
;;! comes = "Refused with the place of the mistake."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["output `pear` is not JSON"]
;; Returns the output `pear` with a value that is not JSON.
(core module $guest
  (import "libc" "memory" (memory 1))
  (data (i32.const 200) "pear{oops")
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 100) (i32.const 200))
    (i32.store (i32.const 104) (i32.const 4))
    (i32.store (i32.const 108) (i32.const 204))
    (i32.store (i32.const 112) (i32.const 5))
    (i32.store (i32.const 12) (i32.const 100))
    (i32.store (i32.const 16) (i32.const 1))
    (i32.const 0)))
