;; Makes a thing that somebody else would have to clear away.
(component
  (core module $guest
    (type $pair (struct (field i32 i32)))
    (func $start (drop (struct.new_default $pair)))
    (start $start))
  (core instance (instantiate $guest)))
