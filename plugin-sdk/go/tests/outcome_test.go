package tests

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing"
	"time"

	"phasm"
)

type none struct{}

func run(function func(call *phasm.Call) error, test phasm.Test) phasm.TestResult {
	return test.Run(phasm.New(phasm.Declaration{}, func(call *phasm.Call, _ none) (none, error) { return none{}, function(call) }))
}

func TestErrorsAreOutcomes(t *testing.T) {
	gone := phasm.Failed("gone", "there is no %s", "x").WithErrorCode(404).WithRetryable(false).WithOutputs(map[string]int{"seen": 1})
	rows := []struct {
		err     error
		code    int32
		message string
		detail  string
	}{
		{gone, 2, "there is no x", `map[error:map[code:404 kind:gone retryable:false]]`},
		{fmt.Errorf("a row: %w", gone), 2, "a row: there is no x", `map[error:map[code:404 kind:gone retryable:false]]`},
		{phasm.Fault("", "broken"), 3, "broken", "map[]"},
		{phasm.Timeout("%d s", 5), 4, "5 s", "map[]"},
		{phasm.Ended(17, "other"), 17, "other", "map[]"},
		{phasm.Suspended("an approval"), 1, "an approval", "map[]"},
		{phasm.Refused("no reason"), 1, "no reason", "map[refused:no reason]"},
		{errors.New("plain"), 3, "plain", "map[error:map[kind:error]]"},
		{fmt.Errorf("more: %w", &fs.PathError{Op: "open", Path: "/x", Err: fs.ErrNotExist}), 3,
			"more: open /x: file does not exist", "map[error:map[kind:fs.PathError]]"},
	}
	for _, row := range rows {
		result := run(func(*phasm.Call) error { return row.err }, phasm.Test{})
		expect(t, result.Code, row.code)
		expect(t, result.Message, row.message)
		expect(t, fmt.Sprint(result.Detail), row.detail)
	}
	expect(t, run(func(*phasm.Call) error { return gone }, phasm.Test{}).OutputsJSON, `{"seen":1}`)
	wrong := run(func(*phasm.Call) error { return phasm.Failed("", "x").WithOutputs(1) }, phasm.Test{})
	expect(t, wrong.Message, "outputs: int is neither a struct nor a map[string]T")
	detail := run(func(*phasm.Call) error { return phasm.Failed("", "x").WithDetail("n", math.NaN()) }, phasm.Test{})
	expect(t, detail.Message, "the detail cannot be written as JSON: json: unsupported value: NaN")
}

func TestAPanicIsAFaultWithItsStackInTheLog(t *testing.T) {
	result := run(func(*phasm.Call) error {
		var none []int
		_ = none[1]
		return nil
	}, phasm.Test{})
	expect(t, result.Code, int32(3))
	expect(t, result.Message, "panic: runtime error: index out of range [1] with length 0")
	expect(t, fmt.Sprint(result.Detail), "map[error:map[kind:panic]]")
	if len(result.Log) != 1 || !strings.Contains(result.Log[0], "outcome_test.go:") {
		t.Error(result.Log)
	}
}

func TestTheCallHasItsParts(t *testing.T) {
	result := run(func(call *phasm.Call) error {
		left, isBounded := call.Remaining()
		call.Infof("%d %d %t %s %s %t", call.Attempt, call.Dispatch, call.Resumed, call.ResumedBy, left, isBounded)
		call.Debugf("bad \xff text")
		call.Progress(0.5, "half of %d", 2)
		call.Progress(math.NaN(), "")
		call.Heartbeat()
		return nil
	}, phasm.Test{Attempt: 3, ResumedBy: "local:ada", Remaining: 5 * time.Second})
	expect(t, result.Log, []string{"info 3 4 true local:ada 5s true", "debug bad \uFFFD text"})
	expect(t, result.Progress, []string{"0.5 half of 2", "? "})
	expect(t, result.Heartbeats, 1)
	first := run(func(call *phasm.Call) error {
		_, isBounded := call.Remaining()
		call.Infof("%d %t %q %t", call.Dispatch, call.Resumed, call.ResumedBy, isBounded)
		return nil
	}, phasm.Test{})
	expect(t, first.Log, []string{`info 1 false "" false`})
}
