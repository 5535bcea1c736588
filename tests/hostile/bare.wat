;; The world's function around a core module that has everything of its own: memory, `realloc`, and `after`, which the host calls when
;; it has read the outcome. It imports nothing.
(component
  ;; TYPES

  ;; GUEST

  (core instance $instance (instantiate $guest))
  (func (export "execute") (param "invocation" $invocation) (result $outcome)
    (canon lift (core func $instance "execute")
      (memory (core memory $instance "memory")) (realloc (core func $instance "realloc")) (post-return (core func $instance "after")))))
