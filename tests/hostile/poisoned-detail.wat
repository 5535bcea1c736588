;;! does = "Returns a detail with the names that some languages take for their own."
;;! comes = "They are names as any other."
;;!
;;! [expect]
;;! codes = [0]
;; Returns `__proto__` and its like.
(core module $guest
  (import "libc" "memory" (memory 1))
  (data (i32.const 16384) "{\22__proto__\22:{\22x\22:1},\22constructor\22:null,\22\22:0}")
  (func (export "execute") (param i32) (result i32)
    (i32.store8 (i32.const 20) (i32.const 1))
    (i32.store (i32.const 24) (i32.const 16384))
    (i32.store (i32.const 28) (i32.const 45))
    (i32.const 0)))
