;;! does = "Says that timers are a type of its own."
;;! comes = "Refused: timers are the host's own."
;;!
;;! [expect]
;;! codes = [3]
;;! message = [""]
;; Would read what the host keeps as what it made itself.
(component
  (type $mine (resource (rep i32)))
  (import "wasi:io/poll@0.2.0" (instance (export "pollable" (type (eq $mine)))))
  (export "execute" (instance 0)))
