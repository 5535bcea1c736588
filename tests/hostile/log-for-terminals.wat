;;! does = "Logs what would turn the text around and move the cursor."
;;! comes = "It succeeds; who prints it escapes it."
;;!
;;! [expect]
;;! codes = [0]
;; Logs what steers terminals.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "host" "log" (func $log (param i32 i32 i32)))
  (data (i32.const 500) "\1b]0;mine\07\e2\80\ae")
  (func (export "execute") (param i32) (result i32)
    (call $log (i32.const 4) (i32.const 500) (i32.const 13))
    (i32.const 0)))
