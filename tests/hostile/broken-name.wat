;;! does = "Returns an output with a newline in its name."
;;! comes = "Refused: its name could not be read."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["an output is called"]
;; Returns an output with a newline in its name.
(core module $guest
  (import "libc" "memory" (memory 1))
  (data (i32.const 200) "a\0ab\00\00")
  (data (i32.const 220) "1")
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 100) (i32.const 200))
    (i32.store (i32.const 104) (i32.const 3))
    (i32.store (i32.const 108) (i32.const 220))
    (i32.store (i32.const 112) (i32.const 1))
    (i32.store (i32.const 12) (i32.const 100))
    (i32.store (i32.const 16) (i32.const 1))
    (i32.const 0)))
