;;! does = "Makes directories without end."
;;! comes = "Refused over the quota."
;;! copies = 4
;;!
;;! [setup]
;;! files = { "data/a" = "" }
;;!
;;! [[grants.guest.dirs]]
;;! host = "data"
;;! guest = "/data"
;;! mode = "rw"
;;! max-files = 100
;;!
;;! [expect]
;;! codes = [8]
;;! message = ["refused: quota of 100 files"]
;; Makes a directory in a directory, without end. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "make-dir" (func $make-dir (param i32 i32 i32 i32)))
  (data (i32.const 500) "aaaa")
  (func (export "execute") (param i32) (result i32)
    (local $dir i32) (local $n i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    (loop $more
      (i32.store (i32.const 500) (i32.add (i32.const 0x61616161) (local.get $n)))
      (i32.store (i32.const 500) (i32.or (i32.const 0x61616161) (i32.and (i32.const 0x0f0f0f0f)
        (i32.or (local.get $n) (i32.shl (local.get $n) (i32.const 4))))))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (call $make-dir (local.get $dir) (i32.const 500) (i32.const 4) (i32.const 408))
      (br_if $more (i32.eqz (i32.load8_u (i32.const 408))))
      ;; 7: there is one of that name already
      (br_if $more (i32.eq (i32.load8_u (i32.const 409)) (i32.const 7))))
    (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 409))))
    (i32.const 0)))
