;;! does = "Returns a mebibyte 16 000 times: 16 GiB made of one."
;;! comes = "Stopped before the host copies them."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["output over its limit of 8 MiB"]
;;! grown-mib = 64
;; Returns 16 000 outputs whose values are the same mebibyte.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (local $at i32)
    (drop (memory.grow (i32.const 32)))
    (memory.fill (i32.const 0x80000) (i32.const 49) (i32.const 0x100000))
    (local.set $at (i32.const 65536))
    (loop $next
      ;; a name of one byte, and the value
      (i64.store (local.get $at) (i64.const 0x0000000100080000))
      (i64.store offset=8 (local.get $at) (i64.const 0x0010000000080000))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 321536))))
    (i32.store (i32.const 12) (i32.const 65536))
    (i32.store (i32.const 16) (i32.const 16000))
    (i32.const 0)))
