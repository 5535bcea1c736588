;;! does = "Asks for 3 GiB in one instruction."
;;! comes = "Stopped at its memory limit before anything is allocated."
;;! copies = 8
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["memory limit of 64 MiB reached"]
;;! grown-mib = 64
;; Asks for 3 GiB in one instruction.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (drop (memory.grow (i32.const 49152)))
    (unreachable)))
