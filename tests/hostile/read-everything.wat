;;! does = "Reads as much as there are numbers, from a file of a word."
;;! comes = "It gets the word, and no room is made for more."
;;!
;;! [setup]
;;! files = { "data/a" = "word" }
;;!
;;! [[grants.guest.dirs]]
;;! host = "data"
;;! guest = "/data"
;;!
;;! [expect]
;;! codes = [0]
;;! grown-mib = 16
;; Reads 16 EiB at once. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
  (import "wasi" "read" (func $read (param i32 i64 i64 i32)))
  (data (i32.const 500) "a")
  (func (export "execute") (param i32) (result i32)
    (local $dir i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    (call $open (local.get $dir) (i32.const 0) (i32.const 500) (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 408))
    (call $read (i32.load (i32.const 412)) (i64.const -1) (i64.const 0) (i32.const 408))
    ;; 2 + the error, or 0
    (if (i32.load8_u (i32.const 408)) (then
      (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 412))))))
    (i32.const 0)))
