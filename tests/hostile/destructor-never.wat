;;! does = "Leaves a thing behind whose destructor never ends."
;;! comes = "It is not called: the remains of an attempt go with it."
;;!
;;! [expect]
;;! codes = [0]
;; Keeps a resource of its own, whose destructor computes for ever.
(component
  ;; TYPES
  (core module $end (func (export "end") (param i32) (loop $for-ever (br $for-ever))))
  (core instance $end (instantiate $end))
  (type $thing (resource (rep i32) (dtor (core func $end "end"))))
  (core func $new (canon resource.new $thing))
  (core func $drop (canon resource.drop $thing))
  (core module $guest
    (import "thing" "new" (func $new (param i32) (result i32)))
    (import "thing" "drop" (func $drop (param i32)))
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
    (func (export "execute") (param i32) (result i32)
      (drop (call $new (i32.const 7)))
      (i32.const 0)))
  (core instance $instance (instantiate $guest
    (with "thing" (instance (export "new" (func $new)) (export "drop" (func $drop))))))
  (func (export "execute") (param "invocation" $invocation) (result $outcome)
    (canon lift (core func $instance "execute") (memory (core memory $instance "memory")) (realloc (core func $instance "realloc")))))
