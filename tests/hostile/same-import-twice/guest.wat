;; Names that people and languages take for the same.
(component
  (import "a-b" (func))
  (import "A-B" (func)))
