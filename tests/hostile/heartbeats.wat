;;! does = "Says that it is alive, and nothing else, without end."
;;! comes = "Stopped at its deadline."
;;! copies = 8
;;! deadline-ms = 300
;;!
;;! [expect]
;;! codes = [4]
;;! message = ["stopped at its deadline"]
;; Calls the host without end.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "host" "heartbeat" (func $heartbeat))
  (func (export "execute") (param i32) (result i32)
    (loop $more (call $heartbeat) (br $more))
    (unreachable)))
