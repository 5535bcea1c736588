package tests

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"phasm"
)

type place struct {
	Street string  `json:"street"`
	Number *int32  `json:"number"`
	Lat    float64 `json:"lat" min:"-90" max:"90" default:"0"`
}

type base struct {
	Trace bool `json:"trace,omitempty"`
}

type inputs struct {
	base
	Name  string           `json:"name" doc:"A name."`
	Times int64            `json:"times" default:"1" min:"0" max:"100"`
	Scale string           `json:"scale" default:"stars" choices:"stars,percent"`
	Votes []int            `json:"votes,omitempty" min:"1" max:"5"`
	Sizes map[string]uint8 `json:"sizes,omitempty"`
	Place *place           `json:"place"`
	When  time.Time        `json:"when,omitzero"`
	Exact json.Number      `json:"exact" default:"0"`
	Any   any              `json:"any,omitempty"`
	Raw   json.RawMessage  `json:"raw,omitempty"`
	Half  float32          `json:"half,omitempty"`
	Skip  string           `json:"-"`
}

var seen inputs

var echo = phasm.New(phasm.Declaration{Description: "Keeps its inputs"}, func(call *phasm.Call, in inputs) (struct{}, error) {
	seen = in
	return struct{}{}, nil
})

func expect(t *testing.T, got, expected any) {
	t.Helper()
	if !reflect.DeepEqual(got, expected) {
		t.Errorf("got %#v\nexpected %#v", got, expected)
	}
}

func TestInputsAreTyped(t *testing.T) {
	result := phasm.Test{Inputs: map[string]any{
		"name": "Ada", "times": 3, "votes": []int{5, 1}, "sizes": map[string]any{"a": 255},
		"place": map[string]any{"street": "x", "number": nil}, "when": "2026-01-02T03:04:05Z", "trace": true,
		"exact": json.Number("123456789012345678901234567890"), "any": []any{1, "x"}, "raw": map[string]any{"<": 1}, "half": 0.5,
	}}.Run(echo)
	expect(t, result.Message, "")
	expect(t, seen.Name, "Ada")
	expect(t, seen.Times, int64(3))
	expect(t, seen.Scale, "stars")
	expect(t, seen.Votes, []int{5, 1})
	expect(t, seen.Sizes, map[string]uint8{"a": 255})
	expect(t, *seen.Place, place{Street: "x"})
	expect(t, seen.When.Year(), 2026)
	expect(t, seen.Trace, true)
	expect(t, seen.Exact, json.Number("123456789012345678901234567890"))
	expect(t, seen.Any, []any{json.Number("1"), "x"})
	expect(t, string(seen.Raw), `{"<":1}`)
	expect(t, seen.Half, float32(0.5))
}

func TestConfigStandsInForInputs(t *testing.T) {
	test := phasm.Test{Inputs: map[string]any{"name": nil, "other": 1}, Config: map[string]any{"name": "Bob", "times": 9, "more": 1}}
	result := test.Run(echo)
	expect(t, result.Message, "")
	expect(t, seen.Name, "Bob")
	expect(t, seen.Times, int64(9))
	expect(t, len(result.Log), 1)
	if !strings.HasPrefix(result.Log[0], "warn input `other` is not used; this executor knows `trace`, `name`, ") {
		t.Error(result.Log)
	}
}

func TestAllFaultsAreSaidAtOnce(t *testing.T) {
	result := phasm.Test{Inputs: map[string]any{
		"times": -1, "scale": "x", "votes": []any{5, "y", 9, 1.5}, "sizes": map[string]any{"a": 256, "b": -1},
		"place": map[string]any{"number": 3000000000, "lat": "n", "more": 1}, "when": "now", "exact": true, "half": 0x1000001,
	}}.Run(echo)
	expect(t, result.Code, int32(3))
	expect(t, result.Detail, map[string]any{"error": map[string]any{"kind": "input", "retryable": false}})
	for _, fault := range []string{
		"input `name` is missing; expected a string",
		"input `times`: expected an integer from 0 to 100, got integer `-1`",
		"input `scale`: expected `stars` or `percent`, got string \"x\"",
		"input `votes[1]`: expected an integer from 1 to 5, got string \"y\"",
		"input `votes[2]`: expected an integer from 1 to 5, got integer `9`",
		"input `votes[3]`: expected an integer from 1 to 5, got floating point `1.5`",
		"input `sizes.a`: expected an integer from 0 on of 8 bits, got integer `256`",
		"input `sizes.b`: expected an integer from 0 on, got integer `-1`",
		"input `place.street` is missing; expected a string",
		"input `place.number`: expected an integer of 32 bits, got integer `3000000000`",
		"input `place.lat`: expected a number from -90 to 90, got string \"n\"",
		"input `place.more` is not known; expected `street`, `number`, `lat`",
		"input `when`: parsing time \"now\"",
		"input `exact`: expected a number, got boolean `true`",
		"input `half`: expected a number that a float of 32 bits keeps, got integer `16777217`",
	} {
		if !strings.Contains(result.Message, fault) {
			t.Errorf("%s\nis not in %s", fault, result.Message)
		}
	}
	expect(t, strings.Count(result.Message, "; input "), 14)
}

func TestNumbersKeepTheirDigits(t *testing.T) {
	run := func(exact, times any) string {
		return phasm.Test{Inputs: map[string]any{"name": "", "exact": exact, "times": times}}.Run(echo).Message
	}
	expect(t, run(json.Number("1e400"), 1), "")
	expect(t, run(0, json.Number("1e1")), "input `times`: expected an integer from 0 to 100, got floating point `1e1`")
	expect(t, run(0, json.Number("99999999999999999999")),
		"input `times`: expected an integer from 0 to 100, got integer `99999999999999999999`")
}

func TestTheManifestHasTheSchemas(t *testing.T) {
	manifest, err := echo.Manifest()
	expect(t, err, nil)
	for _, part := range []string{
		`{"description":"Keeps its inputs","inputs":{"type":"object","properties":{"trace":{"type":["boolean","null"]},`,
		`"name":{"type":"string","description":"A name."}`,
		`"times":{"type":["integer","null"],"minimum":0,"maximum":100,"default":1}`,
		`"scale":{"type":["string","null"],"enum":["stars","percent",null],"default":"stars"}`,
		`"votes":{"type":["array","null"],"items":{"type":"integer","minimum":1,"maximum":5}}`,
		`"sizes":{"type":["object","null"],"additionalProperties":{"type":"integer","minimum":0}}`,
		`"place":{"type":["object","null"],"properties":{"street":{"type":"string"},"number":{"type":["integer","null"]},`,
		`"when":{"type":["string","null"]}`, `"any":{}`, `"required":["name"],"additionalProperties":false}`,
		`"outputs":{"type":"object","properties":{},"required":[],"additionalProperties":false}`,
	} {
		if !strings.Contains(manifest, part) {
			t.Errorf("%s\nis not in %s", part, manifest)
		}
	}
	said := phasm.Declaration{
		Wants: map[string]any{"env": []string{"HOME"}}, Retry: map[string]any{"attempts": 3}, MaxRuntime: "10s", Suspends: true,
	}
	type none struct{}
	other := phasm.New(said, func(*phasm.Call, none) (map[string]any, error) { return nil, nil })
	manifest, err = other.Manifest()
	expect(t, err, nil)
	expect(t, manifest, `{"inputs":{"type":"object","properties":{},"required":[],"additionalProperties":false},`+
		`"wants":{"env":["HOME"]},"retry":{"attempts":3},"maxRuntime":"10s","suspends":true}`)
}

func TestWrongDeclarationsAreAllNamed(t *testing.T) {
	type inner struct {
		Self []inner `json:"self"`
	}
	type twice struct {
		A string `json:"a"`
	}
	type bad struct {
		twice
		A chan int       `json:"a"`
		B []byte         `json:"b"`
		C map[int]string `json:"c"`
		D int            `json:"d" default:"x"`
		E int            `json:"e" default:"7" max:"5"`
		F string         `json:"f" min:"1"`
		G int            `json:"g" choices:"a,b"`
		I inner          `json:"i"`
		J **int          `json:"j"`
		K int            `json:"k" min:"low"`
	}
	_, err := phasm.New(phasm.Declaration{}, func(*phasm.Call, bad) (int, error) { return 0, nil }).Manifest()
	for _, fault := range []string{
		"input `a`: chan int is not supported; expected string,",
		"input `b`: []uint8 is not supported; JSON has no bytes",
		"input `c`: map[int]string is not supported",
		"input `d`: the default is no JSON",
		"default of `e`: expected an integer up to 5, got integer `7`",
		"input `f`: min: expected a number",
		"input `g`: choices are for strings",
		"input `a`: declared twice",
		"input `i.self[]`: tests.inner contains itself",
		"input `j`: **int is not supported",
		"input `k`: min: expected a number",
		"outputs: int is neither a struct nor a map[string]T",
	} {
		if err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s\nis not in %v", fault, err)
		}
	}
}

func TestOutputsAreChecked(t *testing.T) {
	type made struct {
		Rating float64        `json:"rating" min:"0"`
		Tags   []string       `json:"tags"`
		Word   string         `json:"word" choices:"a,b"`
		More   map[string]int `json:"more"`
		Left   *string        `json:"left,omitempty"`
		Null   *string        `json:"null"`
	}
	var out made
	executor := phasm.New(phasm.Declaration{}, func(*phasm.Call, struct{}) (made, error) { return out, nil })
	out = made{Rating: 0.5, Word: "b"}
	result := phasm.Test{}.Run(executor)
	expect(t, result.Message, "")
	expect(t, result.OutputsJSON, `{"rating":0.5,"tags":[],"word":"b","more":{},"null":null}`)
	out = made{Rating: -1, Word: "<c>"}
	result = phasm.Test{}.Run(executor)
	expect(t, result.Message, "output `rating`: expected a number from 0 on, got integer `-1`; output `word`: expected `a` or `b`, got string \"<c>\"")
	expect(t, result.Detail, map[string]any{"error": map[string]any{"kind": "output", "retryable": false}})
	out = made{Rating: math.NaN(), Word: "a"}
	result = phasm.Test{}.Run(executor)
	expect(t, result.Message, "output `rating` cannot be written as JSON: json: unsupported value: NaN")
}
