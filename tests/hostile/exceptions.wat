;;! does = "Throws."
;;! comes = "Not compiled: what the world does not need is off."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; Throws an exception that nobody catches.
(component
  (core module $guest
    (tag $oh)
    (func $start (throw $oh))
    (start $start))
  (core instance (instantiate $guest)))
