;;! does = "Imports what no host should have."
;;! comes = "Refused by name."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["which this host does not offer"]
;; Asks for a shell.
(component
  (import "evil:host/exec@1.0.0" (instance (export "run" (func (param "command" string))))))
