;; Has a table whose indices are as wide as they go (RUSTSEC-2026-0086).
(component
  (core module $guest
    (table i64 1 funcref))
  (core instance (instantiate $guest)))
