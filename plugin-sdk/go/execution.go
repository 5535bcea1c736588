package phasm

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
)

// Bytes of a stack in the log.
const maxStack = 8000

// Member of `executor.config` with the caller that has resumed an attempt.
const resumedBy = "phasm.resumedBy"

// named is an input as the host has it.
type named struct{ name, text string }

// result is what the host gets.
type result struct {
	code    int32
	message string
	outputs []named
	// Empty without a detail.
	detail string
}

// execute runs an executor: inputs that do not fit never reach the function, and outputs that do not fit never leave it.
func execute(executor *Executor, call *Call, given []named) result {
	inputs, faults := executor.read(call, given)
	if len(faults) > 0 {
		return finished(fault("input", faults), nil)
	}
	outputs, err := executor.guarded(call, inputs)
	if err != nil {
		return ofOutcome(outcomeOf(err))
	}
	found, faults := outputsOf(executor.outputs, outputs)
	if len(faults) > 0 {
		return finished(fault("output", faults), nil)
	}
	return finished(&Outcome{}, found)
}

func fault(kind string, faults []string) *Outcome {
	return Fault(kind, "%s", strings.Join(faults, "; ")).WithRetryable(false)
}

// read returns the struct of the inputs, or all that do not fit.
func (e *Executor) read(call *Call, given []named) (reflect.Value, []string) {
	reader, values := reader{}, map[string]any{}
	for _, input := range given {
		value, err := parse([]byte(input.text))
		if err != nil {
			reader.note("input `%s`: %s", input.name, err)
		}
		values[input.name] = value
	}
	into := reflect.New(e.inputs.of).Elem()
	if len(reader.faults) > 0 {
		return into, reader.faults
	}
	unknown := e.inputs.unknown(values)
	for _, field := range e.inputs.fields {
		if value, isThere := call.Config[field.name]; isThere && values[field.name] == nil {
			values[field.name] = value
		}
	}
	reader.members(e.inputs, values, func(name string) string { return "input `" + name }, into)
	if len(reader.faults) == 0 {
		for _, name := range unknown {
			call.Warnf("input `%s` is not used; this executor knows %s", name, e.inputs.names())
		}
	}
	return into, reader.faults
}

// guarded calls the function. A panic that left the component would be a trap, which says nothing.
func (e *Executor) guarded(call *Call, inputs reflect.Value) (outputs reflect.Value, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			stack := string(debug.Stack())
			call.Errorf("panic: %v\n\n%s", reason, strings.TrimSpace(stack[:min(len(stack), maxStack)]))
			err = Fault("panic", "panic: %v", reason)
		}
	}()
	return e.run(call, inputs)
}

// ofOutcome returns the result of an outcome with its own outputs.
func ofOutcome(outcome *Outcome) result {
	if outcome.outputs == nil {
		return finished(outcome, nil)
	}
	types := types{place: "output"}
	as := types.shape(reflect.TypeOf(outcome.outputs), "", nil)
	faults := types.wrong
	if as.nullable || as.kind != record && as.kind != object {
		faults = append(faults, fmt.Sprintf("outputs: %T is neither a struct nor a map[string]T", outcome.outputs))
	}
	if len(faults) > 0 {
		return finished(fault("output", faults), nil)
	}
	found, faults := outputsOf(as, reflect.ValueOf(outcome.outputs))
	if len(faults) > 0 {
		return finished(fault("output", faults), nil)
	}
	return finished(outcome, found)
}

func finished(outcome *Outcome, outputs members) result {
	made := result{code: outcome.code, message: lossy(outcome.message)}
	for _, output := range outputs {
		text, err := jsonText(output.value)
		if err != nil {
			return finished(fault("output", []string{fmt.Sprintf("output `%s` cannot be written as JSON: %s", output.name, err)}), nil)
		}
		made.outputs = append(made.outputs, named{lossy(output.name), string(text)})
	}
	if outcome.detail != nil {
		text, err := jsonText(outcome.detail)
		if err != nil {
			return finished(fault("output", []string{fmt.Sprintf("the detail cannot be written as JSON: %s", err)}), nil)
		}
		made.detail = string(text)
	}
	return made
}

// with puts the parts of `executor.config` where they belong.
func (c *Call) with(config any) {
	c.Config, _ = config.(map[string]any)
	if c.Resumed {
		c.ResumedBy, _ = c.Config[resumedBy].(string)
	}
}
