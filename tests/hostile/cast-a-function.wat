;;! does = "Asks at run time of what type a function is."
;;! comes = "Not compiled: what the world does not need is off."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; As `call-by-subtype`, by another instruction.
(component
  (core module $guest
    (type $base (sub (func)))
    (type $other (sub (func (param i32))))
    (elem declare func $function)
    (func $function (type $other) (param i32))
    (func $start (drop (ref.test (ref $base) (ref.func $function))))
    (start $start))
  (core instance (instantiate $guest)))
