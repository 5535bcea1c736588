;; A component, but no executor.
(component)
