package phasm

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Call is one dispatch of one attempt of a task, and the way to the host.
type Call struct {
	// `executor.config`. Inputs that are not given are looked up here. Numbers are of the type json.Number.
	Config map[string]any
	// Names of the run, of the workflow and of the task.
	RunID, Workflow, Namespace, TaskRunID, Task string
	// Counts attempts, from 1; a resumed attempt keeps its number.
	Attempt uint32
	// Counts dispatches of the task run, from 1; a resume is a new dispatch.
	Dispatch uint32
	// Set when this attempt was suspended and is called again, the payload among its inputs.
	Resumed bool
	// The caller that has resumed it, such as `local:ada`; empty if there is none.
	ResumedBy string
	// The same for every execution of this dispatch, after a crash too; different for any other.
	IdempotencyKey string

	// Milliseconds until the earliest deadline; absent without one.
	remaining *uint64
	host      host
}

// Remaining returns the time until the earliest deadline at the moment of the call; false without a deadline.
func (c *Call) Remaining() (time.Duration, bool) {
	if c.remaining == nil {
		return 0, false
	}
	return time.Duration(min(*c.remaining, math.MaxInt64/uint64(time.Millisecond))) * time.Millisecond, true
}

// Tracef, Debugf, Infof, Warnf and Errorf write one log line. An attempt that writes more than its limit ends with code 3.
func (c *Call) Tracef(format string, arguments ...any) { c.log(0, format, arguments...) }

// Debugf writes one log line.
func (c *Call) Debugf(format string, arguments ...any) { c.log(1, format, arguments...) }

// Infof writes one log line.
func (c *Call) Infof(format string, arguments ...any) { c.log(2, format, arguments...) }

// Warnf writes one log line.
func (c *Call) Warnf(format string, arguments ...any) { c.log(3, format, arguments...) }

// Errorf writes one log line.
func (c *Call) Errorf(format string, arguments ...any) { c.log(4, format, arguments...) }

func (c *Call) log(level uint32, format string, arguments ...any) {
	c.host.log(level, lossy(fmt.Sprintf(format, arguments...)))
}

// Progress reports progress: a fraction from 0 to 1, math.NaN() where it is not known, and a few words.
func (c *Call) Progress(fraction float64, format string, arguments ...any) {
	c.host.progress(fraction, lossy(fmt.Sprintf(format, arguments...)))
}

// Heartbeat reports that the work continues, so that `maxInactivity` starts again.
func (c *Call) Heartbeat() { c.host.heartbeat() }

// host is what an executor calls.
type host interface {
	log(level uint32, text string)
	progress(fraction float64, text string)
	heartbeat()
}

// lossy returns the text with U+FFFD for everything that is not UTF-8.
func lossy(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
