;;! does = "Returns 100 000 opening brackets as an output."
;;! comes = "Refused as what it is, without a stack overflow in the host."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["output `a` is not JSON: recursion limit exceeded"]
;; Returns the output `a` of 100 000 opening brackets.
(core module $guest
  (import "libc" "memory" (memory 1))
  (data (i32.const 200) "a")
  (func (export "execute") (param i32) (result i32)
    (drop (memory.grow (i32.const 2)))
    (memory.fill (i32.const 65536) (i32.const 91) (i32.const 100000))
    (i32.store (i32.const 100) (i32.const 200))
    (i32.store (i32.const 104) (i32.const 1))
    (i32.store (i32.const 108) (i32.const 65536))
    (i32.store (i32.const 112) (i32.const 100000))
    (i32.store (i32.const 12) (i32.const 100))
    (i32.store (i32.const 16) (i32.const 1))
    (i32.const 0)))
