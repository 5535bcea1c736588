;;! does = "Returns a detail that says two things under one name."
;;! comes = "The last one counts."
;;!
;;! [expect]
;;! codes = [0]
;; Returns `{"a":1,"a":2}`.
(core module $guest
  (import "libc" "memory" (memory 1))
  (data (i32.const 16384) "{\22a\22:1,\22a\22:2}")
  (func (export "execute") (param i32) (result i32)
    (i32.store8 (i32.const 20) (i32.const 1))
    (i32.store (i32.const 24) (i32.const 16384))
    (i32.store (i32.const 28) (i32.const 13))
    (i32.const 0)))
