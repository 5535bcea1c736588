;;! does = "Returns text that says it is wide, and is longer than its memory."
;;! comes = "Refused where it crosses the boundary."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Returns a message whose length has the bit for wide characters, and all others.
(component
  ;; TYPES
  (core module $guest
    (memory (export "memory") 1)
    (global $top (mut i32) (i32.const 1024))
    (func (export "realloc") (param i32 i32 i32) (param $size i32) (result i32)
      (global.set $top (i32.and (i32.const -8) (i32.add (i32.const 7) (i32.add (global.get $top) (local.get $size)))))
      (i32.sub (global.get $top) (i32.and (i32.const -8) (i32.add (i32.const 7) (local.get $size)))))
    (func (export "execute") (param i32) (result i32)
      (i32.store (i32.const 4) (i32.const 200))
      (i32.store (i32.const 8) (i32.const 0xffffffff))
      (i32.const 0)))
  (core instance $instance (instantiate $guest))
  (func (export "execute") (param "invocation" $invocation) (result $outcome)
    (canon lift (core func $instance "execute")
      (memory (core memory $instance "memory")) (realloc (core func $instance "realloc")) string-encoding=latin1+utf16)))
