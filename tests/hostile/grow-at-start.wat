;;! does = "Grows its memory without end before it can be called."
;;! comes = "Stopped at its memory limit."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["memory limit of 64 MiB reached"]
;; Grows its memory when it is instantiated.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func $start (loop $more (drop (memory.grow (i32.const 16))) (br $more)))
  (start $start)
  (func (export "execute") (param i32) (result i32)
    (unreachable)))
