;; The world `phasm:executor/executor` around a core module, and the parts of WASI that guests here and in `tests/guests` use. A guest
;; is a file of its own with the core module `$guest`; who runs it puts it in the place marked below.
;;
;; A guest exports `execute: [invocation] -> [outcome]`, both addresses in the memory it imports from "libc":
;;   invocation  strings of 8 bytes (address, length) at 0, 8, 16, 24, 32; attempt 40; dispatch 44; resumed 48;
;;               remaining-ms 56 (present), 64 (value); idempotency-key 72; config 80; inputs 88 (address), 92 (count)
;;   outcome     code 0; message 4; outputs 12 (address), 16 (count); detail 20 (present), 24 (string)
;;   named value name 0; value 8
;; Addresses below 1024 are the guest's own; what is above is handed out by realloc.
(component
  (type $types-type (instance
    (type $named-value' (record (field "name" string) (field "value" string)))
    (export "named-value" (type $named-value (eq $named-value')))
    (type $invocation' (record
      (field "run-id" string)
      (field "workflow" string)
      (field "namespace" string)
      (field "task-run-id" string)
      (field "task" string)
      (field "attempt" u32)
      (field "dispatch" u32)
      (field "resumed" bool)
      (field "remaining-ms" (option u64))
      (field "idempotency-key" string)
      (field "config" string)
      (field "inputs" (list $named-value))))
    (export "invocation" (type (eq $invocation')))
    (type $outcome' (record
      (field "code" s32)
      (field "message" string)
      (field "outputs" (list $named-value))
      (field "detail" (option string))))
    (export "outcome" (type (eq $outcome')))
    (type $level' (enum "trace" "debug" "info" "warn" "error"))
    (export "level" (type (eq $level')))))
  (import "phasm:executor/types@0.1.0" (instance $types (type $types-type)))
  (alias export $types "invocation" (type $invocation))
  (alias export $types "outcome" (type $outcome))
  (alias export $types "level" (type $level))
  ;; That far what `;; TYPES` stands for in a guest that is a whole component.

  (import "phasm:executor/host@0.1.0" (instance $host
    (alias outer 1 $level (type $level'))
    (export "level" (type $level (eq $level')))
    (export "log" (func (param "level" $level) (param "text" string)))
    (export "progress" (func (param "fraction" (option f64)) (param "text" string)))
    (export "heartbeat" (func))))

  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $pollable (sub resource)))
    (export "[method]pollable.ready" (func (param "self" (borrow $pollable)) (result bool)))
    (export "[method]pollable.block" (func (param "self" (borrow $pollable))))
    (export "poll" (func (param "in" (list (borrow $pollable))) (result (list u32))))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (alias outer 1 $pollable (type $pollable'))
    (export "pollable" (type $pollable (eq $pollable')))
    (export "now" (func (result u64)))
    (export "subscribe-instant" (func (param "when" u64) (result (own $pollable))))
    (export "subscribe-duration" (func (param "when" u64) (result (own $pollable))))))
  (import "wasi:clocks/wall-clock@0.2.0" (instance $wall
    (type $datetime' (record (field "seconds" u64) (field "nanoseconds" u32)))
    (export "datetime" (type $datetime (eq $datetime')))
    (export "now" (func (result $datetime)))))
  (alias export $wall "datetime" (type $datetime))
  (import "wasi:random/random@0.2.0" (instance $random
    (export "get-random-bytes" (func (param "len" u64) (result (list u8))))
    (export "get-random-u64" (func (result u64)))))
  (import "wasi:random/insecure@0.2.0" (instance $insecure
    (export "get-insecure-random-bytes" (func (param "len" u64) (result (list u8))))))

  (import "wasi:io/error@0.2.0" (instance $error (export "error" (type (sub resource)))))
  (alias export $error "error" (type $io-error))
  (import "wasi:io/streams@0.2.0" (instance $streams
    (export "input-stream" (type $input-stream (sub resource)))
    (export "output-stream" (type $output-stream (sub resource)))
    (alias outer 1 $io-error (type $error'))
    (export "error" (type $error (eq $error')))
    (type $stream-error' (variant (case "last-operation-failed" (own $error)) (case "closed")))
    (export "stream-error" (type $stream-error (eq $stream-error')))
    (alias outer 1 $pollable (type $pollable'))
    (export "pollable" (type $pollable (eq $pollable')))
    (export "[method]input-stream.subscribe" (func (param "self" (borrow $input-stream)) (result (own $pollable))))
    (export "[method]input-stream.skip"
      (func (param "self" (borrow $input-stream)) (param "len" u64) (result (result u64 (error $stream-error)))))
    (export "[method]output-stream.write-zeroes"
      (func (param "self" (borrow $output-stream)) (param "len" u64) (result (result (error $stream-error)))))
    (export "[method]output-stream.blocking-write-zeroes-and-flush"
      (func (param "self" (borrow $output-stream)) (param "len" u64) (result (result (error $stream-error)))))
    (export "[method]output-stream.splice"
      (func (param "self" (borrow $output-stream)) (param "src" (borrow $input-stream)) (param "len" u64)
        (result (result u64 (error $stream-error)))))
    (export "[method]input-stream.blocking-read"
      (func (param "self" (borrow $input-stream)) (param "len" u64)
        (result (result (list u8) (error $stream-error)))))
    (export "[method]output-stream.blocking-write-and-flush"
      (func (param "self" (borrow $output-stream)) (param "contents" (list u8))
        (result (result (error $stream-error)))))))
  (alias export $streams "input-stream" (type $input-stream))
  (alias export $streams "output-stream" (type $output-stream))
  (import "wasi:cli/stdin@0.2.0" (instance $stdin
    (alias outer 1 $input-stream (type $input-stream'))
    (export "input-stream" (type $input-stream (eq $input-stream')))
    (export "get-stdin" (func (result (own $input-stream))))))
  (import "wasi:cli/stdout@0.2.0" (instance $stdout
    (alias outer 1 $output-stream (type $output-stream'))
    (export "output-stream" (type $output-stream (eq $output-stream')))
    (export "get-stdout" (func (result (own $output-stream))))))
  (import "wasi:cli/stderr@0.2.0" (instance $stderr
    (alias outer 1 $output-stream (type $output-stream'))
    (export "output-stream" (type $output-stream (eq $output-stream')))
    (export "get-stderr" (func (result (own $output-stream))))))

  (import "wasi:cli/environment@0.2.0" (instance $environment
    (export "get-environment" (func (result (list (tuple string string)))))))
  (import "wasi:cli/exit@0.2.0" (instance $exit
    (export "exit" (func (param "status" (result))))))

  (import "wasi:filesystem/types@0.2.0" (instance $filesystem
    (export "descriptor" (type $descriptor (sub resource)))
    (export "directory-entry-stream" (type $entries (sub resource)))
    (alias outer 1 $input-stream (type $input-stream'))
    (export "input-stream" (type $input-stream (eq $input-stream')))
    (alias outer 1 $output-stream (type $output-stream'))
    (export "output-stream" (type $output-stream (eq $output-stream')))
    (alias outer 1 $datetime (type $datetime'))
    (export "datetime" (type $datetime (eq $datetime')))
    (type $new-timestamp' (variant (case "no-change") (case "now") (case "timestamp" $datetime)))
    (export "new-timestamp" (type $new-timestamp (eq $new-timestamp')))
    (type $error-code' (enum
      "access" "would-block" "already" "bad-descriptor" "busy" "deadlock" "quota" "exist" "file-too-large"
      "illegal-byte-sequence" "in-progress" "interrupted" "invalid" "io" "is-directory" "loop"
      "too-many-links" "message-size" "name-too-long" "no-device" "no-entry" "no-lock" "insufficient-memory"
      "insufficient-space" "not-directory" "not-empty" "not-recoverable" "unsupported" "no-tty"
      "no-such-device" "overflow" "not-permitted" "pipe" "read-only" "invalid-seek" "text-file-busy"
      "cross-device"))
    (export "error-code" (type $error-code (eq $error-code')))
    (type $descriptor-flags' (flags
      "read" "write" "file-integrity-sync" "data-integrity-sync" "requested-write-sync" "mutate-directory"))
    (export "descriptor-flags" (type $descriptor-flags (eq $descriptor-flags')))
    (type $path-flags' (flags "symlink-follow"))
    (export "path-flags" (type $path-flags (eq $path-flags')))
    (type $open-flags' (flags "create" "directory" "exclusive" "truncate"))
    (export "open-flags" (type $open-flags (eq $open-flags')))
    (type $descriptor-type' (enum
      "unknown" "block-device" "character-device" "directory" "fifo" "symbolic-link" "regular-file" "socket"))
    (export "descriptor-type" (type $descriptor-type (eq $descriptor-type')))
    (type $entry' (record (field "type" $descriptor-type) (field "name" string)))
    (export "directory-entry" (type $entry (eq $entry')))
    (export "[method]descriptor.open-at" (func
      (param "self" (borrow $descriptor)) (param "path-flags" $path-flags) (param "path" string)
      (param "open-flags" $open-flags) (param "flags" $descriptor-flags)
      (result (result (own $descriptor) (error $error-code)))))
    (export "[method]descriptor.read" (func
      (param "self" (borrow $descriptor)) (param "length" u64) (param "offset" u64)
      (result (result (tuple (list u8) bool) (error $error-code)))))
    (export "[method]descriptor.write" (func
      (param "self" (borrow $descriptor)) (param "buffer" (list u8)) (param "offset" u64)
      (result (result u64 (error $error-code)))))
    (export "[method]descriptor.read-via-stream" (func
      (param "self" (borrow $descriptor)) (param "offset" u64)
      (result (result (own $input-stream) (error $error-code)))))
    (export "[method]descriptor.write-via-stream" (func
      (param "self" (borrow $descriptor)) (param "offset" u64)
      (result (result (own $output-stream) (error $error-code)))))
    (export "[method]descriptor.append-via-stream" (func
      (param "self" (borrow $descriptor)) (result (result (own $output-stream) (error $error-code)))))
    (export "[method]descriptor.set-times" (func
      (param "self" (borrow $descriptor))
      (param "data-access-timestamp" $new-timestamp) (param "data-modification-timestamp" $new-timestamp)
      (result (result (error $error-code)))))
    (export "[method]descriptor.set-times-at" (func
      (param "self" (borrow $descriptor)) (param "path-flags" $path-flags) (param "path" string)
      (param "data-access-timestamp" $new-timestamp) (param "data-modification-timestamp" $new-timestamp)
      (result (result (error $error-code)))))
    (export "[method]descriptor.readlink-at" (func
      (param "self" (borrow $descriptor)) (param "path" string) (result (result string (error $error-code)))))
    (export "[method]descriptor.remove-directory-at" (func
      (param "self" (borrow $descriptor)) (param "path" string) (result (result (error $error-code)))))
    (export "[method]descriptor.set-size" (func
      (param "self" (borrow $descriptor)) (param "size" u64) (result (result (error $error-code)))))
    (export "[method]descriptor.sync" (func (param "self" (borrow $descriptor)) (result (result (error $error-code)))))
    (export "[method]descriptor.read-directory" (func
      (param "self" (borrow $descriptor)) (result (result (own $entries) (error $error-code)))))
    (export "[method]directory-entry-stream.read-directory-entry" (func
      (param "self" (borrow $entries)) (result (result (option $entry) (error $error-code)))))
    (export "[method]descriptor.create-directory-at" (func
      (param "self" (borrow $descriptor)) (param "path" string) (result (result (error $error-code)))))
    (export "[method]descriptor.unlink-file-at" (func
      (param "self" (borrow $descriptor)) (param "path" string) (result (result (error $error-code)))))
    (export "[method]descriptor.symlink-at" (func
      (param "self" (borrow $descriptor)) (param "old-path" string) (param "new-path" string)
      (result (result (error $error-code)))))
    (export "[method]descriptor.link-at" (func
      (param "self" (borrow $descriptor)) (param "old-path-flags" $path-flags) (param "old-path" string)
      (param "new-descriptor" (borrow $descriptor)) (param "new-path" string)
      (result (result (error $error-code)))))
    (export "[method]descriptor.rename-at" (func
      (param "self" (borrow $descriptor)) (param "old-path" string)
      (param "new-descriptor" (borrow $descriptor)) (param "new-path" string)
      (result (result (error $error-code)))))))
  (alias export $filesystem "descriptor" (type $descriptor))
  (import "wasi:filesystem/preopens@0.2.0" (instance $preopens
    (alias outer 1 $descriptor (type $descriptor'))
    (export "descriptor" (type $descriptor (eq $descriptor')))
    (export "get-directories" (func (result (list (tuple (own $descriptor) string)))))))

  (import "wasi:sockets/network@0.2.0" (instance $network
    (type $error-code' (enum
      "unknown" "access-denied" "not-supported" "invalid-argument" "out-of-memory" "timeout" "concurrency-conflict"
      "not-in-progress" "would-block" "invalid-state" "new-socket-limit" "address-not-bindable" "address-in-use"
      "remote-unreachable" "connection-refused" "connection-reset" "connection-aborted" "datagram-too-large"
      "name-unresolvable" "temporary-resolver-failure" "permanent-resolver-failure"))
    (export "error-code" (type (eq $error-code')))
    (type $family' (enum "ipv4" "ipv6"))
    (export "ip-address-family" (type (eq $family')))
    (export "network" (type (sub resource)))))
  (alias export $network "error-code" (type $error-code))
  (alias export $network "ip-address-family" (type $family))
  (alias export $network "network" (type $net))
  (import "wasi:sockets/instance-network@0.2.0" (instance $instance-network
    (alias outer 1 $net (type $net'))
    (export "network" (type $net (eq $net')))
    (export "instance-network" (func (result (own $net))))))
  (import "wasi:sockets/ip-name-lookup@0.2.0" (instance $lookup
    (alias outer 1 $net (type $net'))
    (export "network" (type $net (eq $net')))
    (alias outer 1 $error-code (type $error-code'))
    (export "error-code" (type $error-code (eq $error-code')))
    (export "resolve-address-stream" (type $addresses (sub resource)))
    (export "resolve-addresses" (func (param "network" (borrow $net)) (param "name" string)
      (result (result (own $addresses) (error $error-code)))))))
  (import "wasi:sockets/udp@0.2.0" (instance $udp (export "udp-socket" (type (sub resource)))))
  (alias export $udp "udp-socket" (type $udp-socket))
  (import "wasi:sockets/udp-create-socket@0.2.0" (instance $udp-sockets
    (alias outer 1 $error-code (type $error-code'))
    (export "error-code" (type $error-code (eq $error-code')))
    (alias outer 1 $family (type $family'))
    (export "ip-address-family" (type $family (eq $family')))
    (alias outer 1 $udp-socket (type $socket'))
    (export "udp-socket" (type $socket (eq $socket')))
    (export "create-udp-socket"
      (func (param "address-family" $family) (result (result (own $socket) (error $error-code)))))))
  (import "wasi:sockets/tcp@0.2.0" (instance $tcp (export "tcp-socket" (type (sub resource)))))
  (alias export $tcp "tcp-socket" (type $socket))
  (import "wasi:sockets/tcp-create-socket@0.2.0" (instance $sockets
    (alias outer 1 $error-code (type $error-code'))
    (export "error-code" (type $error-code (eq $error-code')))
    (alias outer 1 $family (type $family'))
    (export "ip-address-family" (type $family (eq $family')))
    (alias outer 1 $socket (type $socket'))
    (export "tcp-socket" (type $socket (eq $socket')))
    (export "create-tcp-socket"
      (func (param "address-family" $family) (result (result (own $socket) (error $error-code)))))))

  (core module $libc-module
    (memory (export "memory") 1)
    (global $top (mut i32) (i32.const 1024))
    ;; Hands out memory that is never given back.
    (func (export "realloc") (param $old i32) (param $old-size i32) (param $align i32) (param $size i32) (result i32)
      (local $at i32)
      (local.set $at (i32.and
        (i32.add (global.get $top) (i32.sub (local.get $align) (i32.const 1)))
        (i32.sub (i32.const 0) (local.get $align))))
      (global.set $top (i32.add (local.get $at) (local.get $size)))
      (block $enough (loop $grow
        (br_if $enough (i32.le_u (global.get $top) (i32.mul (memory.size) (i32.const 65536))))
        (br_if $grow (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))
        (unreachable)))
      (local.get $at))
    ;; Computes for a while: 2^25 rounds for each input of the invocation.
    (func (export "work") (param $invocation i32)
      (local $left i64)
      (local.set $left (i64.shl (i64.extend_i32_u (i32.load offset=92 (local.get $invocation))) (i64.const 25)))
      (block $done (loop $round
        (br_if $done (i64.eqz (local.get $left)))
        (local.set $left (i64.sub (local.get $left) (i64.const 1)))
        (br $round)))))
  (core instance $libc (instantiate $libc-module))
  (alias core export $libc "memory" (core memory $memory))
  (alias core export $libc "realloc" (core func $realloc))

  (core func $log (canon lower (func $host "log") (memory $memory)))
  (core func $progress (canon lower (func $host "progress") (memory $memory)))
  (core func $heartbeat (canon lower (func $host "heartbeat")))
  (core func $subscribe (canon lower (func $clock "subscribe-duration")))
  (core func $block (canon lower (func $poll "[method]pollable.block")))
  (core func $monotonic-now (canon lower (func $clock "now")))
  (core func $subscribe-instant (canon lower (func $clock "subscribe-instant")))
  (core func $ready (canon lower (func $poll "[method]pollable.ready")))
  (core func $poll-all (canon lower (func $poll "poll") (memory $memory) (realloc $realloc)))
  (core func $drop-pollable (canon resource.drop $pollable))
  (core func $now (canon lower (func $wall "now") (memory $memory)))
  (core func $get-random-bytes
    (canon lower (func $random "get-random-bytes") (memory $memory) (realloc $realloc)))
  (core func $get-random-u64 (canon lower (func $random "get-random-u64")))
  (core func $get-insecure-random-bytes
    (canon lower (func $insecure "get-insecure-random-bytes") (memory $memory) (realloc $realloc)))
  (core func $get-stdin (canon lower (func $stdin "get-stdin")))
  (core func $subscribe-input (canon lower (func $streams "[method]input-stream.subscribe")))
  (core func $skip (canon lower (func $streams "[method]input-stream.skip") (memory $memory)))
  (core func $drop-input (canon resource.drop $input-stream))
  (core func $zeroes (canon lower (func $streams "[method]output-stream.write-zeroes") (memory $memory)))
  (core func $flush-zeroes
    (canon lower (func $streams "[method]output-stream.blocking-write-zeroes-and-flush") (memory $memory)))
  (core func $splice (canon lower (func $streams "[method]output-stream.splice") (memory $memory)))
  (core func $get-stdout (canon lower (func $stdout "get-stdout")))
  (core func $get-stderr (canon lower (func $stderr "get-stderr")))
  (core func $write (canon lower (func $streams "[method]output-stream.blocking-write-and-flush") (memory $memory)))
  (core func $get-environment
    (canon lower (func $environment "get-environment") (memory $memory) (realloc $realloc)))
  (core func $exit (canon lower (func $exit "exit")))
  (core func $get-directories
    (canon lower (func $preopens "get-directories") (memory $memory) (realloc $realloc)))

  (core func $open (canon lower (func $filesystem "[method]descriptor.open-at") (memory $memory)))
  (core func $read (canon lower (func $filesystem "[method]descriptor.read") (memory $memory) (realloc $realloc)))
  (core func $write-file (canon lower (func $filesystem "[method]descriptor.write") (memory $memory)))
  (core func $stream (canon lower (func $filesystem "[method]descriptor.read-via-stream") (memory $memory)))
  (core func $read-stream
    (canon lower (func $streams "[method]input-stream.blocking-read") (memory $memory) (realloc $realloc)))
  (core func $write-stream (canon lower (func $filesystem "[method]descriptor.write-via-stream") (memory $memory)))
  (core func $append-stream (canon lower (func $filesystem "[method]descriptor.append-via-stream") (memory $memory)))
  (core func $set-times (canon lower (func $filesystem "[method]descriptor.set-times") (memory $memory)))
  (core func $set-times-at (canon lower (func $filesystem "[method]descriptor.set-times-at") (memory $memory)))
  (core func $read-link
    (canon lower (func $filesystem "[method]descriptor.readlink-at") (memory $memory) (realloc $realloc)))
  (core func $remove-dir (canon lower (func $filesystem "[method]descriptor.remove-directory-at") (memory $memory)))
  (core func $set-size (canon lower (func $filesystem "[method]descriptor.set-size") (memory $memory)))
  (core func $sync (canon lower (func $filesystem "[method]descriptor.sync") (memory $memory)))
  (core func $list (canon lower (func $filesystem "[method]descriptor.read-directory") (memory $memory)))
  (core func $next-entry (canon lower
    (func $filesystem "[method]directory-entry-stream.read-directory-entry") (memory $memory) (realloc $realloc)))
  (core func $make-dir (canon lower (func $filesystem "[method]descriptor.create-directory-at") (memory $memory)))
  (core func $unlink (canon lower (func $filesystem "[method]descriptor.unlink-file-at") (memory $memory)))
  (core func $symlink (canon lower (func $filesystem "[method]descriptor.symlink-at") (memory $memory)))
  (core func $link (canon lower (func $filesystem "[method]descriptor.link-at") (memory $memory)))
  (core func $rename (canon lower (func $filesystem "[method]descriptor.rename-at") (memory $memory)))
  (core func $close (canon resource.drop $descriptor))

  (core func $create-socket (canon lower (func $sockets "create-tcp-socket") (memory $memory)))
  (core func $create-udp-socket (canon lower (func $udp-sockets "create-udp-socket") (memory $memory)))
  (core func $instance-network (canon lower (func $instance-network "instance-network")))
  (core func $resolve (canon lower (func $lookup "resolve-addresses") (memory $memory)))

  ;; GUEST

  (core instance $instance (instantiate $guest
    (with "libc" (instance $libc))
    (with "host" (instance
      (export "log" (func $log))
      (export "progress" (func $progress))
      (export "heartbeat" (func $heartbeat))))
    (with "wasi" (instance
      (export "subscribe-duration" (func $subscribe))
      (export "block" (func $block))
      (export "now" (func $now))
      (export "get-random-bytes" (func $get-random-bytes))
      (export "get-random-u64" (func $get-random-u64))
      (export "get-stdout" (func $get-stdout))
      (export "get-stderr" (func $get-stderr))
      (export "write" (func $write))
      (export "get-environment" (func $get-environment))
      (export "exit" (func $exit))
      (export "get-directories" (func $get-directories))
      (export "open" (func $open))
      (export "read" (func $read))
      (export "write-file" (func $write-file))
      (export "stream" (func $stream))
      (export "read-stream" (func $read-stream))
      (export "set-size" (func $set-size))
      (export "sync" (func $sync))
      (export "list" (func $list))
      (export "next-entry" (func $next-entry))
      (export "make-dir" (func $make-dir))
      (export "unlink" (func $unlink))
      (export "symlink" (func $symlink))
      (export "link" (func $link))
      (export "rename" (func $rename))
      (export "close" (func $close))
      (export "poll" (func $poll-all))
      (export "monotonic-now" (func $monotonic-now))
      (export "subscribe-instant" (func $subscribe-instant))
      (export "ready" (func $ready))
      (export "drop-pollable" (func $drop-pollable))
      (export "get-insecure-random-bytes" (func $get-insecure-random-bytes))
      (export "get-stdin" (func $get-stdin))
      (export "subscribe-input" (func $subscribe-input))
      (export "skip" (func $skip))
      (export "drop-input" (func $drop-input))
      (export "zeroes" (func $zeroes))
      (export "flush-zeroes" (func $flush-zeroes))
      (export "splice" (func $splice))
      (export "write-stream" (func $write-stream))
      (export "append-stream" (func $append-stream))
      (export "set-times" (func $set-times))
      (export "set-times-at" (func $set-times-at))
      (export "read-link" (func $read-link))
      (export "remove-dir" (func $remove-dir))
      (export "create-udp-socket" (func $create-udp-socket))
      (export "instance-network" (func $instance-network))
      (export "resolve" (func $resolve))
      (export "create-socket" (func $create-socket))))))
  (func (export "execute") (param "invocation" $invocation) (result $outcome)
    (canon lift (core func $instance "execute") (memory $memory) (realloc $realloc))))
