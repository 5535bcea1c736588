;;! does = "Returns an outcome that lies outside its memory."
;;! comes = "Refused where it crosses the boundary."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: pointer out of bounds of memory"]
;; Returns an outcome that lies outside its memory.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32) (i32.const 0x7ffffff0)))
