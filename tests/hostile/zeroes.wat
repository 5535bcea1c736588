;;! does = "Writes a tebibyte of zeroes to standard output."
;;! comes = "Stopped at its log limit, before there are any."
;;! deadline-ms = 5000
;;!
;;! [expect]
;;! codes = [3, 4]
;;! grown-mib = 64
;; Has the host make the bytes.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-stdout" (func $get-stdout (result i32)))
  (import "wasi" "flush-zeroes" (func $flush-zeroes (param i32 i64 i32)))
  (func (export "execute") (param i32) (result i32)
    (loop $more
      (call $flush-zeroes (call $get-stdout) (i64.const 1099511627776) (i32.const 400))
      (br $more))
    (unreachable)))
