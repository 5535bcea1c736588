package phasm

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// kind is a type of JSON values.
type kind int

const (
	anything kind = iota
	boolean
	integer
	number
	text
	list
	// An object of any names, and one whose names are the members of a struct.
	object
	record
)

var schemaTypes = [...]string{"", "boolean", "integer", "number", "string", "array", "object", "object"}
var kindWords = [...]string{"a value", "a boolean", "an integer", "a number", "a string", "a list", "an object", "an object"}

// shape is what values are allowed, by a type of Go and the tags of a member of a struct.
type shape struct {
	kind kind
	of   reflect.Type
	// Whether null is a value: a pointer.
	nullable bool
	// Of lists, and of objects of any names.
	items *shape
	// Of structs.
	fields []*field
	// Bounds of numbers, as JSON.
	minimum, maximum json.Number
	// The strings that are allowed, if not all are.
	choices []string
	// Whether the type itself reads a text, or JSON.
	readsText, readsJSON bool
}

// field is a member of a struct.
type field struct {
	// Name in workflows.
	name  string
	index []int
	shape *shape
	doc   string
	// The value of a member that is not given, if it has a default.
	fallback any
	// Whether it may be absent.
	optional bool
	// Whether an output is left out where it is zero.
	omitted bool
}

// types makes shapes, and collects what is wrong with them.
type types struct {
	// Noun for messages.
	place string
	wrong []string
}

var (
	rawMessage      = reflect.TypeFor[json.RawMessage]()
	jsonNumber      = reflect.TypeFor[json.Number]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
)

const supported = "expected string, bool, an integer, a float, []T, map[string]T, a struct, *T, any, json.Number, json.RawMessage, " +
	"or a type that unmarshals text or JSON"

func (t *types) note(path, format string, arguments ...any) {
	t.wrong = append(t.wrong, fmt.Sprintf("%s `%s`: ", t.place, path)+fmt.Sprintf(format, arguments...))
}

// shape returns the shape of a type; above are the structs around it.
func (t *types) shape(of reflect.Type, path string, above []reflect.Type) *shape {
	made := &shape{of: of}
	switch {
	case of == rawMessage, of.Kind() == reflect.Interface && of.NumMethod() == 0:
		return made
	case of == jsonNumber:
		made.kind = number
		return made
	case of.Kind() != reflect.Pointer && reflect.PointerTo(of).Implements(textUnmarshaler):
		made.kind, made.readsText = text, true
		return made
	case of.Kind() != reflect.Pointer && reflect.PointerTo(of).Implements(jsonUnmarshaler):
		made.readsJSON = true
		return made
	}
	switch of.Kind() {
	case reflect.Pointer:
		made = t.shape(of.Elem(), path, above)
		if made.nullable {
			t.note(path, "%s is not supported; a value is null or it is not", of)
		}
		made.of, made.nullable = of, true
	case reflect.Bool:
		made.kind = boolean
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		made.kind = integer
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		made.kind, made.minimum = integer, "0"
	case reflect.Float32, reflect.Float64:
		made.kind = number
	case reflect.String:
		made.kind = text
	case reflect.Slice:
		made.kind = list
		if of.Elem().Kind() == reflect.Uint8 {
			t.note(path, "%s is not supported; JSON has no bytes: use string, or json.RawMessage", of)
		}
		made.items = t.shape(of.Elem(), path+"[]", above)
	case reflect.Map:
		made.kind = object
		if of.Key().Kind() != reflect.String {
			t.note(path, "%s is not supported; expected keys of type string", of)
		}
		made.items = t.shape(of.Elem(), path+".*", above)
	case reflect.Struct:
		made.kind = record
		if slices.Contains(above, of) {
			t.note(path, "%s contains itself, which has no schema; use any", of)
		} else {
			made.fields = t.fields(of, path, append(slices.Clip(above), of))
		}
	default:
		t.note(path, "%s is not supported; %s", of, supported)
	}
	return made
}

// fields returns the members of a struct that are exported, those of embedded structs among them.
func (t *types) fields(of reflect.Type, path string, above []reflect.Type) []*field {
	var found []*field
	for at := range of.NumField() {
		member := of.Field(at)
		name, options, _ := strings.Cut(member.Tag.Get("json"), ",")
		if name == "-" && options == "" {
			continue
		}
		if member.Anonymous && name == "" && member.Type.Kind() == reflect.Struct {
			for _, inner := range t.fields(member.Type, path, append(slices.Clip(above), member.Type)) {
				inner.index = append([]int{at}, inner.index...)
				found = append(found, inner)
			}
			continue
		}
		if !member.IsExported() {
			continue
		}
		if name == "" {
			name = member.Name
		}
		inside := strings.TrimPrefix(path+"."+name, ".")
		if slices.ContainsFunc(found, func(other *field) bool { return other.name == name }) {
			t.note(inside, "declared twice")
		}
		made := &field{name: name, index: []int{at}, shape: t.shape(member.Type, inside, above), doc: member.Tag.Get("doc")}
		made.omitted = strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		made.optional = made.omitted || made.shape.nullable
		t.limit(made, inside, member.Tag)
		t.fall(made, inside, member.Tag)
		found = append(found, made)
	}
	return found
}

// limit reads bounds and choices; those of a list or a map are for each of its values.
func (t *types) limit(of *field, path string, tag reflect.StructTag) {
	limited := of.shape
	for limited.items != nil {
		limited = limited.items
	}
	for _, bound := range []struct {
		key string
		to  *json.Number
	}{{"min", &limited.minimum}, {"max", &limited.maximum}} {
		text, isSet := tag.Lookup(bound.key)
		if !isSet {
			continue
		}
		value, err := parse([]byte(text))
		digits, isNumber := value.(json.Number)
		if err != nil || !isNumber || (limited.kind != integer && limited.kind != number) {
			t.note(path, "%s: expected a number, for an integer or a number", bound.key)
		}
		*bound.to = digits
	}
	if choices, isSet := tag.Lookup("choices"); isSet {
		limited.choices = strings.Split(choices, ",")
		if limited.kind != text {
			t.note(path, "choices are for strings")
		}
	}
}

// fall reads the default: the text of a string, or JSON.
func (t *types) fall(of *field, path string, tag reflect.StructTag) {
	said, isSet := tag.Lookup("default")
	if !isSet {
		return
	}
	of.optional = true
	if of.shape.kind == text {
		of.fallback = said
	} else if value, err := parse([]byte(said)); err != nil {
		t.note(path, "the default is no JSON: %s", err)
		return
	} else {
		of.fallback = value
	}
	reader := reader{}
	reader.read(of.shape, of.fallback, fmt.Sprintf("default of `%s", path), reflect.New(of.shape.of).Elem())
	t.wrong = append(t.wrong, reader.faults...)
}

// expected returns the words for what is allowed.
func (s *shape) expected() string {
	words := kindWords[s.kind]
	switch {
	case s.choices != nil:
		last := len(s.choices) - 1
		words = "`" + strings.Join(s.choices[:last], "`, `") + "` or `" + s.choices[last] + "`"
		if last == 0 {
			words = "`" + s.choices[0] + "`"
		}
	case s.minimum != "" && s.maximum != "":
		words = fmt.Sprintf("%s from %s to %s", words, s.minimum, s.maximum)
	case s.minimum != "":
		words = fmt.Sprintf("%s from %s on", words, s.minimum)
	case s.maximum != "":
		words = fmt.Sprintf("%s up to %s", words, s.maximum)
	}
	return words
}

// schema returns the JSON Schema.
func (s *shape) schema() members {
	return s.schemaWith(s.nullable)
}

func (s *shape) schemaWith(null bool) members {
	schema := members{}
	if s.kind == anything {
		return schema
	}
	if null {
		schema.add("type", []string{schemaTypes[s.kind], "null"}, true)
	} else {
		schema.add("type", schemaTypes[s.kind], true)
	}
	if s.choices != nil {
		choices := []any{}
		for _, choice := range s.choices {
			choices = append(choices, choice)
		}
		if null {
			choices = append(choices, nil)
		}
		schema.add("enum", choices, true)
	}
	schema.add("minimum", s.minimum, s.minimum != "")
	schema.add("maximum", s.maximum, s.maximum != "")
	switch s.kind {
	case list:
		schema.add("items", s.items.schema(), true)
	case object:
		schema.add("additionalProperties", s.items.schema(), true)
	case record:
		properties, required := members{}, []string{}
		for _, field := range s.fields {
			properties.add(field.name, field.schema(), true)
			if !field.optional {
				required = append(required, field.name)
			}
		}
		schema.add("properties", properties, true)
		schema.add("required", required, true)
		schema.add("additionalProperties", false, true)
	}
	return schema
}

// schema returns the schema of the member; one that may be absent may also be null.
func (f *field) schema() members {
	schema := f.shape.schemaWith(f.optional)
	schema.add("description", f.doc, f.doc != "")
	schema.add("default", f.fallback, f.fallback != nil)
	return schema
}

// names returns the names of the members, for messages.
func (s *shape) names() string {
	if len(s.fields) == 0 {
		return "none"
	}
	var names []string
	for _, field := range s.fields {
		names = append(names, "`"+field.name+"`")
	}
	return strings.Join(names, ", ")
}
