;; Has a memory of 64-bit addresses, as large as they go.
(component
  (core module $guest (memory i64 1 0x1000000000000))
  (core instance (instantiate $guest)))
