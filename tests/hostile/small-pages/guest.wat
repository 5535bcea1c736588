;; Has a memory whose pages are as small as they go.
(component
  (core module $guest
    (memory 100 (pagesize 1)))
  (core instance (instantiate $guest)))
