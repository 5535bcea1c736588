;;! does = "Waits for another thread, in a way that no deadline interrupts."
;;! comes = "Not compiled: what the world does not need is off."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; Waits at an address for a thread that never comes.
(component
  (core module $guest
    (memory 1)
    (func $start (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1))))
    (start $start))
  (core instance (instantiate $guest)))
