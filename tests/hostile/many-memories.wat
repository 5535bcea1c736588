;;! does = "Declares a dozen memories."
;;! comes = "Refused: a plugin has so many at most."
;;!
;;! [repeat.MEMORIES]
;;! text = '(memory 1) '
;;! times = 12
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["limits.memories"]
;; Declares memories.
(core module $guest
  (import "libc" "memory" (memory 1))
  ;; MEMORIES
  (func (export "execute") (param i32) (result i32)
    (i32.const 0)))
