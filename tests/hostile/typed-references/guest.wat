;; Uses references with types, of which the world has none.
(component
  (core module $guest
    (type $nothing (func))
    (elem declare func $function)
    (func $function (type $nothing))
    (func $start (call_ref $nothing (ref.func $function)))
    (start $start))
  (core instance (instantiate $guest)))
