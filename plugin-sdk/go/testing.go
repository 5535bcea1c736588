package phasm

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Test is a call of an executor on this machine: by default the first attempt of a task without inputs, config and deadline.
type Test struct {
	Inputs, Config map[string]any
	Attempt        uint32
	// Makes it the second dispatch, after a suspension; its payload goes to Inputs.
	Resumed bool
	// The caller that has resumed it.
	ResumedBy string
	// Time until the deadline; none if it is zero.
	Remaining time.Duration
}

// TestResult is what the host would get, and what it was told.
type TestResult struct {
	Code    int32
	Message string
	// The outputs as the standard library reads them, and as JSON in the order of their declaration.
	Outputs     map[string]any
	OutputsJSON string
	Detail      map[string]any
	// Lines such as `info greeting Ada`.
	Log []string
	// Lines such as `0.5 half`, or `? half` where the fraction is not known.
	Progress   []string
	Heartbeats int
}

// Run calls an executor as the host would.
func (t Test) Run(executor *Executor) TestResult {
	found := &recorder{}
	call := &Call{
		RunID: "run", Workflow: "test", Namespace: "default", TaskRunID: "run/test", Task: "test",
		Attempt: max(t.Attempt, 1), Dispatch: max(t.Attempt, 1), Resumed: t.Resumed || t.ResumedBy != "",
		IdempotencyKey: "run/test/1/1", host: found,
	}
	if call.Resumed {
		call.Dispatch++
	}
	if t.Remaining > 0 {
		milliseconds := uint64(t.Remaining.Milliseconds())
		call.remaining = &milliseconds
	}
	config := maps.Clone(t.Config)
	if t.ResumedBy != "" {
		if config == nil {
			config = map[string]any{}
		}
		config[resumedBy] = t.ResumedBy
	}
	text, err := jsonText(config)
	if err != nil {
		panic(fmt.Sprintf("Test.Config has no JSON form: %s", err))
	}
	plain, _ := parse(text)
	call.with(plain)
	var given []named
	for _, name := range slices.Sorted(maps.Keys(t.Inputs)) {
		text, err := jsonText(t.Inputs[name])
		if err != nil {
			panic(fmt.Sprintf("input `%s` has no JSON form: %s", name, err))
		}
		given = append(given, named{name, string(text)})
	}
	if len(executor.wrong) > 0 {
		panic("the declarations of the executor: " + strings.Join(executor.wrong, "; "))
	}
	return found.result(execute(executor, call, given))
}

// recorder stands in for the host.
type recorder struct {
	lines, reports []string
	heartbeats     int
}

func (r *recorder) log(level uint32, text string) {
	levels := [...]string{"trace", "debug", "info", "warn", "error"}
	r.lines = append(r.lines, levels[level]+" "+text)
}

func (r *recorder) progress(fraction float64, text string) {
	known := "?"
	if !math.IsNaN(fraction) {
		known = fmt.Sprint(fraction)
	}
	r.reports = append(r.reports, known+" "+text)
}

func (r *recorder) heartbeat() { r.heartbeats++ }

func (r *recorder) result(made result) TestResult {
	outputs := members{}
	for _, output := range made.outputs {
		outputs.add(output.name, json.RawMessage(output.text), true)
	}
	text, err := jsonText(outputs)
	if err != nil {
		panic(err)
	}
	found := TestResult{
		Code: made.code, Message: made.message, OutputsJSON: string(text),
		Log: r.lines, Progress: r.reports, Heartbeats: r.heartbeats,
	}
	read(string(text), &found.Outputs)
	if made.detail != "" {
		read(made.detail, &found.Detail)
	}
	return found
}

func read(text string, into any) {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		panic(err)
	}
}
