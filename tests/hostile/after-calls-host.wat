;;! does = "Calls the host after it has returned."
;;! comes = "Trapped: the host is not called from there."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Logs after it has returned.
(component
  ;; TYPES
  (import "phasm:executor/host@0.1.0" (instance $host
    (alias outer 1 $level (type $level'))
    (export "level" (type $level (eq $level')))
    (export "log" (func (param "level" $level) (param "text" string)))))
  (core module $libc (memory (export "memory") 1))
  (core instance $libc (instantiate $libc))
  (core func $log (canon lower (func $host "log") (memory (core memory $libc "memory"))))
  (core module $guest
    (import "host" "log" (func $log (param i32 i32 i32)))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
    (func (export "execute") (param i32) (result i32) (i32.const 0))
    (func (export "after") (param i32) (call $log (i32.const 2) (i32.const 0) (i32.const 0))))
  (core instance $instance (instantiate $guest (with "host" (instance (export "log" (func $log))))))
  (func (export "execute") (param "invocation" $invocation) (result $outcome)
    (canon lift (core func $instance "execute")
      (memory (core memory $libc "memory")) (realloc (core func $instance "realloc")) (post-return (core func $instance "after")))))
