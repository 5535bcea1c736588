;;! does = "Makes things for a garbage collector."
;;! comes = "Not compiled: what the world does not need is off."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; Makes a thing that somebody else would have to clear away.
(component
  (core module $guest
    (type $pair (struct (field i32 i32)))
    (func $start (drop (struct.new_default $pair)))
    (start $start))
  (core instance (instantiate $guest)))
