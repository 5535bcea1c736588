;; Throws an exception that nobody catches.
(component
  (core module $guest
    (tag $oh)
    (func $start (throw $oh))
    (start $start))
  (core instance (instantiate $guest)))
