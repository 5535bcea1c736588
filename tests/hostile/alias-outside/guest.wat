;; Takes a type of a component around it that there is not.
(component
  (component (alias outer 9 0 (type)))
)
