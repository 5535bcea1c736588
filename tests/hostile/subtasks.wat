;;! does = "Makes each call of the host a task of its own, which takes a fiber."
;;! comes = "Not compiled: tasks beside the one that is called are off."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; Lowers a function of the host so that each call of it is a task of its own: some dozens of such guests took every fiber.
(component
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock (export "now" (func (result u64)))))
  (core module $libc (memory (export "memory") 1))
  (core instance $memory (instantiate $libc))
  (alias core export $memory "memory" (core memory $shared))
  (core func (canon lower (func $clock "now") async (memory $shared))))
