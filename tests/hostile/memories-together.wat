;;! does = "Has memories that are each small enough."
;;! comes = "Stopped at its memory limit: they count together."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["memory limit of 64 MiB reached"]
;; Grows three memories by 30 MiB each.
(core module $guest
  (import "libc" "memory" (memory 1))
  (memory $a 1)
  (memory $b 1)
  (memory $c 1)
  (func (export "execute") (param i32) (result i32)
    (drop (memory.grow $a (i32.const 480)))
    (drop (memory.grow $b (i32.const 480)))
    (drop (memory.grow $c (i32.const 480)))
    (i32.const 0)))
