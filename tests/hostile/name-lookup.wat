;;! does = "Tells a secret to the owner of a domain, by asking for a name."
;;! comes = "Refused: no name is looked up."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["not granted: network"]
;; Looks up a name that says more than a name. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "instance-network" (func $instance-network (result i32)))
  (import "wasi" "resolve" (func $resolve (param i32 i32 i32 i32)))
  (data (i32.const 500) "hunter2.evil.example")
  (func (export "execute") (param i32) (result i32)
    (call $resolve (call $instance-network) (i32.const 500) (i32.const 20) (i32.const 408))
    ;; 2 + the error, or 0
    (if (i32.load8_u (i32.const 408)) (then
      (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 412))))))
    (i32.const 0)))
