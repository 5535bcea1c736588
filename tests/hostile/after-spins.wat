;;! does = "Computes for ever after it has returned."
;;! comes = "Stopped at its deadline."
;;! world = "bare"
;;! deadline-ms = 300
;;!
;;! [expect]
;;! codes = [4]
;;! message = ["stopped at its deadline"]
;; Computes for ever when the host has read its outcome.
(core module $guest
  (memory (export "memory") 1)
  (global $top (mut i32) (i32.const 1024))
  (func (export "realloc") (param i32 i32 i32) (param $size i32) (result i32)
    (global.set $top (i32.and (i32.const -8) (i32.add (i32.const 7) (i32.add (global.get $top) (local.get $size)))))
    (i32.sub (global.get $top) (i32.and (i32.const -8) (i32.add (i32.const 7) (local.get $size)))))
  (func (export "execute") (param i32) (result i32) (i32.const 0))
  (func (export "after") (param i32) (loop $for-ever (br $for-ever))))
