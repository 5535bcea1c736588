;;! does = "Says last what would move the cursor and turn the text around, and traps."
;;! comes = "An error with its words; who prints them escapes them."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Writes what steers terminals, and traps.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-stderr" (func $get-stderr (result i32)))
  (import "wasi" "write" (func $write (param i32 i32 i32 i32)))
  (data (i32.const 500) "\1b[2J\1b[31m\e2\80\aelive\0d")
  (func (export "execute") (param i32) (result i32)
    (call $write (call $get-stderr) (i32.const 500) (i32.const 18) (i32.const 400))
    (unreachable)))
