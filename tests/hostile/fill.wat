;;! does = "Fills 32 MiB with one instruction after the other, for ever."
;;! comes = "Stopped at its deadline, and others have their turn meanwhile."
;;! copies = 4
;;! deadline-ms = 1000
;;!
;;! [expect]
;;! codes = [4]
;;! message = ["stopped at its deadline"]
;; Grows to 32 MiB and fills all of it with one bulk instruction after the other, for ever.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (drop (memory.grow (i32.const 511)))
    (loop $for-ever
      (memory.fill (i32.const 65536) (i32.const 7) (i32.const 33488896))
      (br $for-ever))
    (unreachable)))
