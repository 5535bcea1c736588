;;! does = "Returns the code of those that were stopped."
;;! comes = "It is believed: it harms only itself."
;;!
;;! [expect]
;;! codes = [4]
;; Returns the code of a timeout.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 0) (i32.const 4))
    (i32.const 0)))
