;;! does = "Logs without end before it can be called."
;;! comes = "Stopped at its log limit."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["log over its limit of 1 MiB"]
;; Logs when it is instantiated.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "host" "log" (func $log (param i32 i32 i32)))
  (func $start (loop $more (call $log (i32.const 2) (i32.const 0) (i32.const 1000)) (br $more)))
  (start $start)
  (func (export "execute") (param i32) (result i32)
    (unreachable)))
