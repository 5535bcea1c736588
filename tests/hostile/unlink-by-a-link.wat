;;! does = "Deletes a file outside by a directory that is linked."
;;! comes = "Refused, and it is there."
;;!
;;! [setup]
;;! files = { "outside/secret" = "" }
;;! links = { "data/link" = "../outside" }
;;!
;;! [[grants.guest.dirs]]
;;! host = "data"
;;! guest = "/data"
;;! mode = "rw"
;;!
;;! [expect]
;;! codes = [33]
;;! there = ["outside/secret"]
;; Deletes a file in a linked directory. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "unlink" (func $unlink (param i32 i32 i32 i32)))
  (data (i32.const 500) "link/secret")
  (func (export "execute") (param i32) (result i32)
    (local $dir i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    (call $unlink (local.get $dir) (i32.const 500) (i32.const 11) (i32.const 408))
    ;; 2 + the error, or 0
    (if (i32.load8_u (i32.const 408)) (then
      (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 409))))))
    (i32.const 0)))
