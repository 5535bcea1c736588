;;! does = "Calls a function by a reference that knows its type."
;;! comes = "Not compiled: what the world does not need is off."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; Uses references with types, of which the world has none.
(component
  (core module $guest
    (type $nothing (func))
    (elem declare func $function)
    (func $function (type $nothing))
    (func $start (call_ref $nothing (ref.func $function)))
    (start $start))
  (core instance (instantiate $guest)))
