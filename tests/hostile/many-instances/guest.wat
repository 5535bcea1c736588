;; Makes instances of a module that has nothing.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (i32.const 0)))
(core module $nothing)
;; INSTANCES
