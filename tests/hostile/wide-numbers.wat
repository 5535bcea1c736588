;;! does = "Adds numbers of 128 bits."
;;! comes = "Not compiled: what the world does not need is off."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; Adds numbers wider than the world has.
(component
  (core module $guest
    (func $start (i64.add128 (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1)) (drop) (drop))
    (start $start))
  (core instance (instantiate $guest)))
