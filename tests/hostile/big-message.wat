;;! does = "Fails with a message of 7 MiB."
;;! comes = "Failed, and the message is cut to what fits into a line or two."
;;! copies = 4
;;!
;;! [expect]
;;! codes = [2]
;;! message = ["xxx… (7340032 bytes)"]
;;! grown-mib = 128
;; Fails with a message of 7 MiB.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (drop (memory.grow (i32.const 128)))
    (memory.fill (i32.const 65536) (i32.const 120) (i32.const 7340032))
    (i32.store (i32.const 0) (i32.const 2))
    (i32.store (i32.const 4) (i32.const 65536))
    (i32.store (i32.const 8) (i32.const 7340032))
    (i32.const 0)))
