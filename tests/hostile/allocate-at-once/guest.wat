;; Asks for 3 GiB in one instruction.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (drop (memory.grow (i32.const 49152)))
    (unreachable)))
