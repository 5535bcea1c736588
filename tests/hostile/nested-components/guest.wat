;; Twenty components, each in the one before.
(component
;; OPEN
;; CLOSE
)
