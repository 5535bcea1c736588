;; Types that are nothing but a name.
(component
  ;; MANY
)
