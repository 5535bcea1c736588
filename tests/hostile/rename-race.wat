;;! does = "Moves a file to and fro, as others do, and opens it."
;;! comes = "It succeeds or not, and nothing else is touched."
;;! copies = 8
;;!
;;! [setup]
;;! files = { "data/a" = "", "secret" = "precious" }
;;!
;;! [[grants.guest.dirs]]
;;! host = "data"
;;! guest = "/data"
;;! mode = "rw"
;;!
;;! [expect]
;;! codes = [0]
;;! there = ["data/b"]
;;! unchanged = ["secret"]
;; Swaps two names a thousand times, and opens one of them. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
  (import "wasi" "rename" (func $rename (param i32 i32 i32 i32 i32 i32 i32)))
  (import "wasi" "close" (func $close (param i32)))
  (data (i32.const 500) "ab")
  (func (export "execute") (param i32) (result i32)
    (local $dir i32) (local $n i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    (loop $more
      (call $rename (local.get $dir) (i32.const 500) (i32.const 1) (local.get $dir) (i32.const 501) (i32.const 1) (i32.const 408))
      (call $open (local.get $dir) (i32.const 0) (i32.const 500) (i32.const 1) (i32.const 1) (i32.const 2) (i32.const 408))
      (if (i32.eqz (i32.load8_u (i32.const 408))) (then (call $close (i32.load (i32.const 412)))))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $more (i32.lt_u (local.get $n) (i32.const 1000))))
    (i32.const 0)))
