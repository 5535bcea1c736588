;; Adds numbers wider than the world has.
(component
  (core module $guest
    (func $start (i64.add128 (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1)) (drop) (drop))
    (start $start))
  (core instance (instantiate $guest)))
