;; Exports `execute`, but with another type.
(component
  (core module $m (func (export "execute") (result i32) (i32.const 0)))
  (core instance $i (instantiate $m))
  (func (export "execute") (result s32) (canon lift (core func $i "execute"))))
