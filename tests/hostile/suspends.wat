;;! does = "Suspends, and says nothing of what it waits for."
;;! comes = "It waits: that is no fault."
;;!
;;! [expect]
;;! codes = [1]
;; Returns the code of those that wait.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 0) (i32.const 1))
    (i32.const 0)))
