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
