;; Each type is a list of the one before.
(component
  (type (list u8))
  ;; LISTS
  (import "a" (func (param "a" 2000)))
)
