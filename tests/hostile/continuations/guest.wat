;; Makes a stack beside the one it was given.
(component
  (core module $guest
    (type $f (func))
    (type $c (cont $f))
    (elem declare func $run)
    (func $run)
    (func $start (drop (cont.new $c (ref.func $run))))
    (start $start))
  (core instance (instantiate $guest)))
