;;! does = "Makes a directory in a directory, and so on."
;;! comes = "An error: paths have an end."
;;!
;;! [setup]
;;! dirs = { "data" = 0 }
;;!
;;! [[grants.guest.dirs]]
;;! host = "data"
;;! guest = "/data"
;;! mode = "rw"
;;!
;;! [expect]
;;! codes = [20]
;; Makes directories, each by a path that is longer by two bytes. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "make-dir" (func $make-dir (param i32 i32 i32 i32)))
  (func (export "execute") (param i32) (result i32)
    (local $dir i32) (local $n i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    ;; `a/a/a/…` as far as there is room
    (memory.fill (i32.const 4096) (i32.const 97) (i32.const 8192))
    (loop $slash
      (i32.store8 offset=4097 (local.get $n) (i32.const 47))
      (local.set $n (i32.add (local.get $n) (i32.const 2)))
      (br_if $slash (i32.lt_u (local.get $n) (i32.const 8192))))
    (local.set $n (i32.const 1))
    (loop $deeper
      (call $make-dir (local.get $dir) (i32.const 4096) (local.get $n) (i32.const 408))
      (local.set $n (i32.add (local.get $n) (i32.const 2)))
      (br_if $deeper (i32.and (i32.eqz (i32.load8_u (i32.const 408))) (i32.lt_u (local.get $n) (i32.const 8192)))))
    ;; 2 + the error, or 0
    (if (i32.load8_u (i32.const 408)) (then
      (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 409))))))
    (i32.const 0)))
