;; Has a memory of its own beside the one it imports.
(core module $guest
  (import "libc" "memory" (memory 1))
  (memory 1)
  (func (export "execute") (param i32) (result i32) (i32.const 0)))
