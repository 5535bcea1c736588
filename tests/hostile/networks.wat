;;! does = "Makes networks without end."
;;! comes = "Stopped at the limit on host resources."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["(limits.resources)"]
;;! grown-mib = 32
;; Keeps what stands for the network.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "instance-network" (func $instance-network (result i32)))
  (func (export "execute") (param i32) (result i32)
    (loop $more (drop (call $instance-network)) (br $more))
    (unreachable)))
