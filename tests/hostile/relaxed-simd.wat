;;! does = "Uses vector instructions whose result depends on the machine."
;;! comes = "Not compiled: what the world does not need is off."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; Computes what comes out differently on different machines.
(component
  (core module $guest
    (func (result v128)
      (f32x4.relaxed_madd (v128.const i32x4 1 2 3 4) (v128.const i32x4 1 2 3 4) (v128.const i32x4 1 2 3 4))))
  (core instance (instantiate $guest)))
