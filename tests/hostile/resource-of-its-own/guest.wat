;; Would read what the host keeps as what it made itself.
(component
  (type $mine (resource (rep i32)))
  (import "wasi:io/poll@0.2.0" (instance (export "pollable" (type (eq $mine)))))
  (export "execute" (instance 0)))
