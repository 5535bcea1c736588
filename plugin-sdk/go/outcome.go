package phasm

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Codes of outcomes. Any other counts as an error and is kept.
const (
	codeSucceeded = iota
	codeSuspended
	codeFailed
	codeError
	codeTimeout
)

// Outcome is the end of an attempt that did not succeed. An executor returns it as its error; it may be wrapped by other errors.
type Outcome struct {
	code    int32
	message string
	outputs any
	detail  map[string]any
}

// Error returns the message.
func (o *Outcome) Error() string { return o.message }

// Failed has code 2: another attempt would fail, too. The kind is a word that policy rules compare; it may be empty.
func Failed(kind, format string, arguments ...any) *Outcome {
	return ended(codeFailed, kind, format, arguments...)
}

// Fault has code 3: misuse or a fault, so that another attempt may succeed. The kind is as that of Failed.
func Fault(kind, format string, arguments ...any) *Outcome {
	return ended(codeError, kind, format, arguments...)
}

// Timeout has code 4: took too long.
func Timeout(format string, arguments ...any) *Outcome {
	return ended(codeTimeout, "", format, arguments...)
}

// Ended has any other code.
func Ended(code int32, format string, arguments ...any) *Outcome {
	return ended(code, "", format, arguments...)
}

// Suspended has code 1: waits for a resume, saying what for. The executor is then called again with Call.Resumed set.
func Suspended(format string, arguments ...any) *Outcome {
	return ended(codeSuspended, "", format, arguments...)
}

// Refused has code 1 after a resume: refuses the response, and waits for another.
func Refused(format string, arguments ...any) *Outcome {
	refused := Suspended(format, arguments...)
	return refused.WithDetail("refused", refused.message)
}

// WithOutputs adds outputs, a struct or a map; what the executor returns next to an error is not used.
func (o *Outcome) WithOutputs(outputs any) *Outcome {
	o.outputs = outputs
	return o
}

// WithDetail adds to the detail that policy rules read as `outcome.NAME`.
func (o *Outcome) WithDetail(name string, value any) *Outcome {
	if o.detail == nil {
		o.detail = map[string]any{}
	}
	o.detail[name] = value
	return o
}

// WithErrorCode sets `error.code`, such as a status of a service.
func (o *Outcome) WithErrorCode(code any) *Outcome { return o.withError("code", code) }

// WithRetryable sets `error.retryable`. After false, `retry` without a condition makes no other attempt.
func (o *Outcome) WithRetryable(retryable bool) *Outcome { return o.withError("retryable", retryable) }

func (o *Outcome) withError(name string, value any) *Outcome {
	members, isSet := o.detail["error"].(map[string]any)
	if !isSet {
		members = map[string]any{}
	}
	members[name] = value
	return o.WithDetail("error", members)
}

func ended(code int32, kind, format string, arguments ...any) *Outcome {
	outcome := &Outcome{code: code, message: fmt.Sprintf(format, arguments...)}
	if kind != "" {
		outcome.withError("kind", kind)
	}
	return outcome
}

// outcomeOf returns the outcome that an error is or wraps; any other error is code 3, with its type as the kind.
func outcomeOf(err error) *Outcome {
	var outcome *Outcome
	if !errors.As(err, &outcome) {
		return Fault(kindOf(err), "%s", err)
	}
	wrapped := *outcome
	wrapped.message = err.Error()
	return &wrapped
}

// kindOf returns the type of the first error that has more than a text: `fs.PathError`.
func kindOf(err error) string {
	for ; err != nil; err = errors.Unwrap(err) {
		name := strings.TrimLeft(reflect.TypeOf(err).String(), "*")
		switch name {
		case "errors.errorString", "errors.joinError", "fmt.wrapError", "fmt.wrapErrors":
		default:
			return name
		}
	}
	return "error"
}
