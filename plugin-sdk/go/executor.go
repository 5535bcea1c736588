// Package phasm is the SDK for executors in Go: a struct of inputs, a struct of outputs, and a function between them.
//
//	var executor = phasm.New(phasm.Declaration{Description: "Greets by name"}, greet)
//
//	func greet(call *phasm.Call, in Inputs) (Outputs, error) {
//		call.Infof("greeting %s", in.Name)
//		return Outputs{Greeting: "Hello, " + in.Name + "!"}, nil
//	}
//
//	func main() { phasm.Main() }
//
// README.md has the tags of the structs, the outcomes and the tests.
package phasm

import (
	"fmt"
	"os"
	"reflect"
	"strings"
)

// Declaration is what the manifest says next to inputs and outputs. The members after the first are as in a workflow.
type Declaration struct {
	Description string
	// Grants that the executor asks for.
	Wants map[string]any
	// Policies of tasks that have none of their own.
	Retry, Deadline, Limits map[string]any
	// Durations such as "10s".
	MaxRuntime, MaxInactivity string
	// Whether attempts may wait for people.
	Suspends bool
}

// Executor is a function from inputs to outputs, with their declaration.
type Executor struct {
	declaration     Declaration
	inputs, outputs *shape
	// Wrong declarations.
	wrong []string
	run   func(call *Call, inputs reflect.Value) (reflect.Value, error)
}

// Executors of this program, in the order of their making. A component has one.
var made []*Executor

// New makes an executor of a function. Inputs is a struct; Outputs is a struct, or a map with keys of type string.
//
// A variable of the package holds it: a component has no main, and no call makes it later.
func New[Inputs, Outputs any](declaration Declaration, run func(*Call, Inputs) (Outputs, error)) *Executor {
	executor := &Executor{declaration: declaration}
	executor.run = func(call *Call, inputs reflect.Value) (reflect.Value, error) {
		outputs, err := run(call, inputs.Interface().(Inputs))
		return reflect.ValueOf(&outputs).Elem(), err
	}
	executor.inputs = executor.shape("input", reflect.TypeFor[Inputs]())
	executor.outputs = executor.shape("output", reflect.TypeFor[Outputs]())
	if executor.inputs.kind != record {
		executor.wrong = append(executor.wrong, fmt.Sprintf("inputs: %s is no struct", reflect.TypeFor[Inputs]()))
	}
	if executor.outputs.kind != record && executor.outputs.kind != object {
		executor.wrong = append(executor.wrong,
			fmt.Sprintf("outputs: %s is neither a struct nor a map[string]T", reflect.TypeFor[Outputs]()))
	}
	made = append(made, executor)
	return executor
}

func (e *Executor) shape(place string, of reflect.Type) *shape {
	types := types{place: place}
	found := types.shape(of, "", nil)
	e.wrong = append(e.wrong, types.wrong...)
	return found
}

// Manifest returns the manifest as JSON, or everything that is wrong with the declarations.
func (e *Executor) Manifest() (string, error) {
	if len(e.wrong) > 0 {
		return "", fmt.Errorf("%s", strings.Join(e.wrong, "; "))
	}
	said := e.declaration
	manifest := members{}
	manifest.add("description", said.Description, said.Description != "")
	manifest.add("inputs", e.inputs.schema(), true)
	// A map of anything declares nothing.
	isDeclared := e.outputs.kind == record || e.outputs.items.kind != anything
	manifest.add("outputs", e.outputs.schema(), isDeclared)
	manifest.add("wants", said.Wants, said.Wants != nil)
	manifest.add("retry", said.Retry, said.Retry != nil)
	manifest.add("deadline", said.Deadline, said.Deadline != nil)
	manifest.add("limits", said.Limits, said.Limits != nil)
	manifest.add("maxRuntime", said.MaxRuntime, said.MaxRuntime != "")
	manifest.add("maxInactivity", said.MaxInactivity, said.MaxInactivity != "")
	manifest.add("suspends", true, said.Suspends)
	text, err := jsonText(manifest)
	return string(text), err
}

// Main writes the manifest of the program's executor to stdout. `phasm plugin build` runs the program on this machine for that; a
// component has no main, as the host calls the executor.
func Main() {
	executor, err := only()
	manifest := ""
	if err == nil {
		manifest, err = executor.Manifest()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(manifest)
}

// only returns the executor of this program.
func only() (*Executor, error) {
	if len(made) != 1 {
		return nil, fmt.Errorf("%d executors; expected one variable of the package that phasm.New returns", len(made))
	}
	return made[0], nil
}
