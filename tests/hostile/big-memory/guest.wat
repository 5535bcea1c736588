;; Declares a second memory of 1 GiB.
(core module $guest
  (import "libc" "memory" (memory 1))
  (memory 16384)
  (func (export "execute") (param i32) (result i32) (i32.const 0)))
