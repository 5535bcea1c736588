;;! does = "Asks for the time without end."
;;! comes = "Stopped at its deadline, and others have their turn meanwhile."
;;! copies = 8
;;! deadline-ms = 300
;;!
;;! [expect]
;;! codes = [4]
;;! message = ["stopped at its deadline"]
;; Calls the host without end.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "monotonic-now" (func $monotonic-now (result i64)))
  (func (export "execute") (param i32) (result i32)
    (loop $more (drop (call $monotonic-now)) (br $more))
    (unreachable)))
