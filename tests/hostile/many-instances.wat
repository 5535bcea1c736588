;;! does = "Instantiates one module a hundred times."
;;! comes = "Stopped at the limit on instances."
;;!
;;! [repeat.INSTANCES]
;;! text = '(core instance (instantiate $nothing)) '
;;! times = 100
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["limits.instances"]
;; Makes instances of a module that has nothing.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (i32.const 0)))
(core module $nothing)
;; INSTANCES
