;;! does = "Has a memory that threads share."
;;! comes = "Not compiled: what the world does not need is off."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; Has a memory for several threads.
(component
  (core module $guest
    (memory 1 1 shared))
  (core instance (instantiate $guest)))
