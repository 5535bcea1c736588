;;! does = "Has a table of 64-bit indices."
;;! comes = "Not compiled: what the world does not need is off."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; Has a table whose indices are as wide as they go (RUSTSEC-2026-0086).
(component
  (core module $guest
    (table i64 1 funcref))
  (core instance (instantiate $guest)))
