;;! does = "Holds a component that computes for ever when it is made."
;;! comes = "Stopped at its deadline."
;;! deadline-ms = 300
;;!
;;! [expect]
;;! codes = [4]
;;! message = ["stopped at its deadline"]
;; A component within never gets beyond its start.
(component
  ;; TYPES
  (component $inner
    (core module $m (func $start (loop $for-ever (br $for-ever))) (start $start))
    (core instance (instantiate $m)))
  (instance (instantiate $inner))
  (core module $guest
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
    (func (export "execute") (param i32) (result i32) (i32.const 0)))
  (core instance $instance (instantiate $guest))
  (func (export "execute") (param "invocation" $invocation) (result $outcome)
    (canon lift (core func $instance "execute") (memory (core memory $instance "memory")) (realloc (core func $instance "realloc")))))
