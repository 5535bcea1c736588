package phasm

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Bytes of a value that a message shows.
const maxShown = 60

// parse reads a JSON text; numbers keep their digits.
func parse(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = fmt.Errorf("the JSON text ends too early")
		}
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more after the JSON text")
	}
	return value, nil
}

// reader puts values into variables of Go, and collects everything that does not fit.
type reader struct {
	faults []string
}

func (r *reader) note(format string, arguments ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, arguments...))
}

// read reads a value. The path has no backtick at its end.
func (r *reader) read(as *shape, value any, path string, into reflect.Value) {
	if as.nullable {
		if value == nil {
			return
		}
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	before := len(r.faults)
	if wrong := as.wrong(value); wrong != "" {
		r.note("%s`: expected %s, got %s", path, wrong, shown(value))
		return
	}
	switch {
	case as.readsText:
		if err := into.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(value.(string))); err != nil {
			r.note("%s`: %s, got %s", path, err, shown(value))
		}
	case as.readsJSON, into.Type() == rawMessage:
		if err := r.unmarshal(value, into); err != nil {
			r.note("%s`: %s, got %s", path, err, shown(value))
		}
	case as.kind == anything && value != nil:
		into.Set(reflect.ValueOf(value))
	case as.kind == boolean:
		into.SetBool(value.(bool))
	case as.kind == text:
		into.SetString(value.(string))
	case as.kind == integer || as.kind == number:
		if wrong := setNumber(value.(json.Number), into); wrong != "" {
			r.note("%s`: expected %s, got %s", path, wrong, shown(value))
		}
	case as.kind == list:
		items := value.([]any)
		into.Set(reflect.MakeSlice(into.Type(), len(items), len(items)))
		for at, item := range items {
			r.read(as.items, item, fmt.Sprintf("%s[%d]", path, at), into.Index(at))
		}
	case as.kind == object:
		into.Set(reflect.MakeMap(into.Type()))
		members := value.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			item := reflect.New(into.Type().Elem()).Elem()
			r.read(as.items, members[name], path+"."+name, item)
			into.SetMapIndex(reflect.ValueOf(name).Convert(into.Type().Key()), item)
		}
	case as.kind == record:
		members := value.(map[string]any)
		r.members(as, members, func(name string) string { return path + "." + name }, into)
		for _, name := range as.unknown(members) {
			r.note("%s.%s` is not known; expected %s", path, name, as.names())
		}
	}
	if len(r.faults) > before {
		into.SetZero()
	}
}

// members reads the members of a struct. Null is as a member that is not given.
func (r *reader) members(as *shape, given map[string]any, path func(string) string, into reflect.Value) {
	for _, field := range as.fields {
		value := given[field.name]
		if value == nil && field.fallback != nil {
			value = field.fallback
		}
		switch {
		case value != nil:
			r.read(field.shape, value, path(field.name), into.FieldByIndex(field.index))
		case !field.optional && field.shape.kind != anything:
			r.note("%s` is missing; expected %s", path(field.name), field.shape.expected())
		case !field.optional:
			if _, isGiven := given[field.name]; !isGiven {
				r.note("%s` is missing; expected %s", path(field.name), field.shape.expected())
			}
		}
	}
}

// unknown returns the names that no member has, sorted.
func (s *shape) unknown(given map[string]any) []string {
	var others []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(s.fields, func(field *field) bool { return field.name == name }) {
			others = append(others, name)
		}
	}
	return others
}

func (r *reader) unmarshal(value any, into reflect.Value) error {
	text, err := jsonText(value)
	if err != nil {
		return err
	}
	return into.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(text)
}

// wrong returns what was expected instead of the value, without a look into it; empty if it fits.
func (s *shape) wrong(value any) string {
	fits := false
	switch value := value.(type) {
	case nil:
		fits = s.kind == anything
	case bool:
		fits = s.kind == boolean
	case json.Number:
		fits = (s.kind == integer && isInteger(value) || s.kind == number) && s.isWithin(value)
	case string:
		fits = s.kind == text && (s.choices == nil || slices.Contains(s.choices, value))
	case []any:
		fits = s.kind == list
	case map[string]any:
		fits = s.kind == object || s.kind == record
	}
	if fits || s.kind == anything {
		return ""
	}
	return s.expected()
}

func (s *shape) isWithin(value json.Number) bool {
	return (s.minimum == "" || order(value, s.minimum) >= 0) && (s.maximum == "" || order(value, s.maximum) <= 0)
}

// isInteger returns whether a number is written without fraction and exponent.
func isInteger(value json.Number) bool { return !strings.ContainsAny(string(value), ".eE") }

// order is negative if the first number is lower. Integers are compared as such.
func order(first, second json.Number) int {
	a, errA := strconv.ParseInt(string(first), 10, 64)
	b, errB := strconv.ParseInt(string(second), 10, 64)
	if errA == nil && errB == nil {
		return cmp.Compare(a, b)
	}
	x, _ := first.Float64()
	y, _ := second.Float64()
	return cmp.Compare(x, y)
}

// setNumber sets a variable; it returns what was expected of a number that the variable would not keep.
func setNumber(value json.Number, into reflect.Value) string {
	digits := string(value)
	switch {
	case into.Kind() == reflect.String:
		into.SetString(digits)
	case into.CanInt():
		integer, err := strconv.ParseInt(digits, 10, into.Type().Bits())
		if err != nil {
			return fmt.Sprintf("an integer of %d bits", into.Type().Bits())
		}
		into.SetInt(integer)
	case into.CanUint():
		integer, err := strconv.ParseUint(strings.Replace(digits, "-0", "0", 1), 10, into.Type().Bits())
		if err != nil {
			return fmt.Sprintf("an integer from 0 on of %d bits", into.Type().Bits())
		}
		into.SetUint(integer)
	case into.CanFloat():
		float, err := strconv.ParseFloat(digits, into.Type().Bits())
		if err != nil || isInteger(value) && strconv.FormatFloat(float, 'f', 0, 64) != strings.Replace(digits, "-0", "0", 1) {
			return fmt.Sprintf("a number that a float of %d bits keeps", into.Type().Bits())
		}
		into.SetFloat(float)
	}
	return ""
}

// shown returns a value for a message: its type and, if that is short, itself.
func shown(value any) string {
	var of string
	switch value := value.(type) {
	case nil:
		return "null"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	case bool:
		return fmt.Sprintf("boolean `%t`", value)
	case json.Number:
		of = "floating point"
		if isInteger(value) {
			of = "integer"
		}
		return fmt.Sprintf("%s `%s`", of, cut(string(value)))
	}
	quoted, _ := jsonText(value)
	return "string " + cut(string(quoted))
}

// cut returns the beginning of a text that is too long for a message.
func cut(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}
