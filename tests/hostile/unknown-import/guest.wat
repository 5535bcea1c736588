;; Asks for a shell.
(component
  (import "evil:host/exec@1.0.0" (instance (export "run" (func (param "command" string))))))
