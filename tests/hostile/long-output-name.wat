;;! does = "Returns an output with a name of 60 KB."
;;! comes = "Refused: names are short."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["an output is called"]
;; Returns an output whose name is longer than messages are.
(core module $guest
  (import "libc" "memory" (memory 1))
  (data (i32.const 200) "1")
  (func (export "execute") (param i32) (result i32)
    (memory.fill (i32.const 1024) (i32.const 97) (i32.const 60000))
    (i32.store (i32.const 100) (i32.const 1024))
    (i32.store (i32.const 104) (i32.const 60000))
    (i32.store (i32.const 108) (i32.const 200))
    (i32.store (i32.const 112) (i32.const 1))
    (i32.store (i32.const 12) (i32.const 100))
    (i32.store (i32.const 16) (i32.const 1))
    (i32.const 0)))
