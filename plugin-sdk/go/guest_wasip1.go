package phasm

// The executor as a component: the world `executor` of wit/executor.wit, by the canonical ABI.

import (
	"math"
	"runtime/debug"
	"unsafe"
)

//go:wasmimport phasm:executor/host@0.1.0 log
func hostLog(level uint32, text unsafe.Pointer, size uint32)

//go:wasmimport phasm:executor/host@0.1.0 progress
func hostProgress(isKnown uint32, fraction float64, text unsafe.Pointer, size uint32)

//go:wasmimport phasm:executor/host@0.1.0 heartbeat
func hostHeartbeat()

// component is the host of a component.
type component struct{}

func (component) log(level uint32, text string) {
	hostLog(level, unsafe.Pointer(unsafe.StringData(text)), uint32(len(text)))
}

func (component) progress(fraction float64, text string) {
	isKnown := uint32(1)
	if math.IsNaN(fraction) {
		isKnown, fraction = 0, 0
	}
	hostProgress(isKnown, fraction, unsafe.Pointer(unsafe.StringData(text)), uint32(len(text)))
}

func (component) heartbeat() { hostHeartbeat() }

// Memory for the adapter of WASI 0.1, which allocates before Go's allocator is there: its state and a stack, of 64 KiB each.
var early [256 << 10]byte
var earlyUsed uintptr

// Set when Go's allocator works.
var isReady bool

// Memory that is referred to from outside of Go, so that it is not collected.
var kept [][]byte

// The percentage of a collector that is on.
var collecting int

func init() {
	isReady = true
	// A collection reads the clock, which a component must not do while the host writes the inputs: it traps. So the collector is
	// off until then.
	collecting = debug.SetGCPercent(-1)
}

// allocate is for the host and for the adapter.
//
//go:wasmexport cabi_realloc
//go:nosplit
func allocate(old unsafe.Pointer, oldSize, align, size uint32) unsafe.Pointer {
	if isReady {
		return reallocate(old, oldSize, align, size)
	}
	start := (uintptr(unsafe.Pointer(&early)) + earlyUsed + uintptr(align) - 1) &^ (uintptr(align) - 1)
	earlyUsed = start + uintptr(size) - uintptr(unsafe.Pointer(&early))
	if earlyUsed > uintptr(len(early)) {
		// A trap: the runtime that would panic is not there.
		*(*byte)(unsafe.Pointer(^uintptr(0) >> 32)) = 0
	}
	return unsafe.Pointer(start)
}

func reallocate(old unsafe.Pointer, oldSize, align, size uint32) unsafe.Pointer {
	if size == 0 {
		return unsafe.Pointer(uintptr(align))
	}
	// Go aligns what has as many bytes by eight.
	memory := make([]byte, max(size, 8))
	kept = append(kept, memory)
	if oldSize > 0 {
		copy(memory, unsafe.Slice((*byte)(old), oldSize))
	}
	return unsafe.Pointer(unsafe.SliceData(memory))
}

// span is a string or a list in memory.
type span struct{ start, size uint32 }

func (s span) String() string {
	if s.size == 0 {
		return ""
	}
	return unsafe.String((*byte)(unsafe.Pointer(uintptr(s.start))), s.size)
}

func spanOf(text string) span {
	if text == "" {
		return span{1, 0}
	}
	kept = append(kept, unsafe.Slice(unsafe.StringData(text), len(text)))
	return span{uint32(uintptr(unsafe.Pointer(unsafe.StringData(text)))), uint32(len(text))}
}

// invocation is the record of this name.
type invocation struct {
	runID, workflow, namespace, taskRunID, task span
	attempt, dispatch                           uint32
	resumed                                     bool
	_                                           [7]byte
	hasRemaining                                bool
	_                                           [7]byte
	remaining                                   uint64
	idempotencyKey, config, inputs              span
}

// namedValue is the record of this name.
type namedValue struct{ name, value span }

// outcome is the record of this name.
type outcome struct {
	code             int32
	message, outputs span
	hasDetail        uint32
	detail           span
}

// Keeps the result until the host has read it.
var answer outcome
var answerOutputs []namedValue

//go:wasmexport execute
func executeExport(at unsafe.Pointer) unsafe.Pointer {
	debug.SetGCPercent(collecting)
	in := (*invocation)(at)
	call := &Call{
		RunID: in.runID.String(), Workflow: in.workflow.String(), Namespace: in.namespace.String(),
		TaskRunID: in.taskRunID.String(), Task: in.task.String(),
		Attempt: in.attempt, Dispatch: in.dispatch, Resumed: in.resumed,
		IdempotencyKey: in.idempotencyKey.String(), host: component{},
	}
	if in.hasRemaining {
		call.remaining = &in.remaining
	}
	config, _ := parse([]byte(in.config.String()))
	call.with(config)
	var given []named
	if in.inputs.size > 0 {
		for _, input := range unsafe.Slice((*namedValue)(unsafe.Pointer(uintptr(in.inputs.start))), in.inputs.size) {
			given = append(given, named{input.name.String(), input.value.String()})
		}
	}
	var made result
	if executor, err := only(); err != nil {
		made = finished(Fault("declaration", "%s", err).WithRetryable(false), nil)
	} else {
		made = execute(executor, call, given)
	}
	for _, output := range made.outputs {
		answerOutputs = append(answerOutputs, namedValue{spanOf(output.name), spanOf(output.text)})
	}
	answer = outcome{code: made.code, message: spanOf(made.message), detail: spanOf(made.detail)}
	answer.outputs = span{uint32(uintptr(unsafe.Pointer(unsafe.SliceData(answerOutputs)))), uint32(len(answerOutputs))}
	if made.detail != "" {
		answer.hasDetail = 1
	}
	return unsafe.Pointer(&answer)
}
