;; Has a memory for several threads.
(component
  (core module $guest
    (memory 1 1 shared))
  (core instance (instantiate $guest)))
