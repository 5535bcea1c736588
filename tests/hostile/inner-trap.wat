;;! does = "Holds a component that traps when it is made."
;;! comes = "An error that names the trap."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; A component within traps at its start.
(component
  ;; TYPES
  (component $inner
    (core module $m (func $start (unreachable)) (start $start))
    (core instance (instantiate $m)))
  (instance (instantiate $inner))
  (core module $guest
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
    (func (export "execute") (param i32) (result i32) (i32.const 0)))
  (core instance $instance (instantiate $guest))
  (func (export "execute") (param "invocation" $invocation) (result $outcome)
    (canon lift (core func $instance "execute") (memory (core memory $instance "memory")) (realloc (core func $instance "realloc")))))
