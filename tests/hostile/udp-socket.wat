;;! does = "Makes a socket for datagrams."
;;! comes = "Refused: there are no sockets."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["not granted: network"]
;; Makes a socket for UDP. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "create-udp-socket" (func $create-udp-socket (param i32 i32)))
  (func (export "execute") (param i32) (result i32)
    (call $create-udp-socket (i32.const 1) (i32.const 408))
    ;; 2 + the error, or 0
    (if (i32.load8_u (i32.const 408)) (then
      (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 412))))))
    (i32.const 0)))
