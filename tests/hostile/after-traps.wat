;;! does = "Traps after it has returned."
;;! comes = "An error: what it had returned does not count."
;;! world = "bare"
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Traps when the host has read its outcome.
(core module $guest
  (memory (export "memory") 1)
  (global $top (mut i32) (i32.const 1024))
  (func (export "realloc") (param i32 i32 i32) (param $size i32) (result i32)
    (global.set $top (i32.and (i32.const -8) (i32.add (i32.const 7) (i32.add (global.get $top) (local.get $size)))))
    (i32.sub (global.get $top) (i32.and (i32.const -8) (i32.add (i32.const 7) (local.get $size)))))
  (func (export "execute") (param i32) (result i32) (i32.const 0))
  (func (export "after") (param i32) (unreachable)))
