;;! does = "Imports a function of the world with other arguments."
;;! comes = "Refused by name."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["which this host does not offer"]
;; Wants of the host what is not its to give.
(component
  (import "phasm:executor/host@0.1.0" (instance (export "heartbeat" (func (param "code" u64) (result string))))))
