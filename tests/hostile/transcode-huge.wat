;;! does = "Passes a text of two gibibytes to a component beside it."
;;! comes = "Stopped between the two."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Two components, and a text between them whose length doubles past all numbers.
(component
  ;; TYPES
  (component $taker
    (core module $m
      (memory (export "memory") 1)
      (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 0xfff0))
      (func (export "take") (param i32 i32)))
    (core instance $i (instantiate $m))
    (func (export "take") (param "text" string)
      (canon lift (core func $i "take")
        (memory (core memory $i "memory")) (realloc (core func $i "realloc")) string-encoding=utf16)))
  (component $giver
    (import "take" (func $take (param "text" string)))
    (core module $libc
      (memory (export "memory") 1)
      (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
    (core instance $libc (instantiate $libc))
    (core func $take (canon lower (func $take)
      (memory (core memory $libc "memory")) (realloc (core func $libc "realloc")) string-encoding=utf8))
    (core module $m
      (import "taker" "take" (func $take (param i32 i32)))
      (func $start (call $take (i32.const 1024) (i32.const 0x7fffffff)))
      (start $start))
    (core instance (instantiate $m (with "taker" (instance (export "take" (func $take)))))))
  (instance $taker (instantiate $taker))
  (instance (instantiate $giver (with "take" (func $taker "take"))))

  (core module $guest
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
    (func (export "execute") (param i32) (result i32) (i32.const 0)))
  (core instance $instance (instantiate $guest))
  (func (export "execute") (param "invocation" $invocation) (result $outcome)
    (canon lift (core func $instance "execute")
      (memory (core memory $instance "memory")) (realloc (core func $instance "realloc")))))
