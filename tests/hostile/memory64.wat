;;! does = "Declares a memory of 64-bit addresses."
;;! comes = "Not compiled: what the world does not need is off."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; Has a memory of 64-bit addresses, as large as they go.
(component
  (core module $guest (memory i64 1 0x1000000000000))
  (core instance (instantiate $guest)))
