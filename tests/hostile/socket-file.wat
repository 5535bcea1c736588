;;! does = "Opens a socket that lies in a directory it may read."
;;! comes = "Refused: only files and directories open."
;;!
;;! [setup]
;;! sockets = ["data/socket"]
;;!
;;! [[grants.guest.dirs]]
;;! host = "data"
;;! guest = "/data"
;;!
;;! [expect]
;;! codes = [33]
;;! message = ["refused: `/data/socket` is neither a file nor a directory"]
;; Opens a socket that has a name. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
  (data (i32.const 500) "socket")
  (func (export "execute") (param i32) (result i32)
    (local $dir i32) (local $n i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    (call $open (local.get $dir) (i32.const 0) (i32.const 500) (i32.const 6)
      (i32.const 0) (i32.const 1) (i32.const 408))
    ;; 2 + the error, or 0
    (if (i32.load8_u (i32.const 408)) (then
      (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 412))))))
    (i32.const 0)))
