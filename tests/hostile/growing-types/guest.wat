;; Each type is a pair of the one before.
(component
  (type (tuple u8 u8))
  ;; TYPES-OF-TYPES
)
