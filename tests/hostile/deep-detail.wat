;;! does = "Returns a detail of objects in lists in objects, 8 000 deep."
;;! comes = "Refused as what it is, without a stack overflow in the host."
;;!
;;! [repeat.OPEN]
;;! text = '{\22a\22:['
;;! times = 8000
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["detail is not JSON: recursion limit exceeded"]
;; Returns a detail that nests too deep.
(core module $guest
  (import "libc" "memory" (memory 1))
  (data (i32.const 16384) ";; OPEN
")
  (func (export "execute") (param i32) (result i32)
    (i32.store8 (i32.const 20) (i32.const 1))
    (i32.store (i32.const 24) (i32.const 16384))
    (i32.store (i32.const 28) (i32.const 48000))
    (i32.const 0)))
