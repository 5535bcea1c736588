;;! does = "Has stacks of its own, and switches between them."
;;! comes = "Not compiled: what the world does not need is off."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
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
