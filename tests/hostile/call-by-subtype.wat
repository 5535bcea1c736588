;;! does = "Calls a function by a type that others may be derived from."
;;! comes = "Not compiled: what the world does not need is off."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; Has the host asked at run time whether one type is of the kind of another. In wasmtime 48.0.8 without its feature `gc` nobody answers, and the
;; process aborts, if such types are let in (RUSTSEC-2026-0570).
(component
  (core module $guest
    (type $base (sub (func)))
    (type $other (sub (func (param i32))))
    (table funcref (elem $function))
    (func $function (type $other) (param i32))
    (func $start (call_indirect (type $base) (i32.const 0)))
    (start $start))
  (core instance (instantiate $guest)))
