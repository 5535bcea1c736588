;;! does = "Is granted /proc, where files are the machine and not its data."
;;! comes = "Nothing is granted: the attempt ends at once and says why."
;;!
;;! [[grants.guest.dirs]]
;;! host = "/proc"
;;! guest = "/data"
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["granted directory `/data`: its file system (proc) holds no data"]
;; Opens a table of the kernel. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
  (data (i32.const 500) "mounts")
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
