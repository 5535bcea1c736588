package phasm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// members is a JSON object whose members keep their order.
type members []member

type member struct {
	name  string
	value any
}

func (m *members) add(name string, value any, isSet bool) {
	if isSet {
		*m = append(*m, member{name, value})
	}
}

// MarshalJSON writes the object.
func (m members) MarshalJSON() ([]byte, error) {
	text := []byte("{")
	for at, member := range m {
		if at > 0 {
			text = append(text, ',')
		}
		for at, part := range []any{member.name, member.value} {
			written, err := jsonText(part)
			if err != nil {
				return nil, err
			}
			text = append(text, written...)
			if at == 0 {
				text = append(text, ':')
			}
		}
	}
	return append(text, '}'), nil
}

// jsonText writes a value, with the signs of HTML as they are.
func jsonText(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(text.Bytes(), "\n"), nil
}

// outputsOf returns the outputs of a struct or a map, each with its JSON text, and everything that does not fit.
//
// A nil list is an empty one, as JSON's null is no list.
func outputsOf(as *shape, outputs reflect.Value) (members, []string) {
	writer := writer{}
	found, _ := writer.plain(as, outputs, "").(members)
	return found, writer.faults
}

// writer makes values of JSON, and collects everything that has none.
type writer struct {
	faults []string
}

func (w *writer) note(format string, arguments ...any) {
	w.faults = append(w.faults, fmt.Sprintf(format, arguments...))
}

// plain returns the value as JSON has it. The path has no backtick at its end; that of the outputs is empty.
func (w *writer) plain(as *shape, value reflect.Value, path string) any {
	inside := func(name string) string {
		if path == "" {
			return "output `" + name
		}
		return path + "." + name
	}
	if as.nullable {
		if value.IsNil() {
			return nil
		}
		value = value.Elem()
	}
	switch as.kind {
	case list:
		items := make([]any, value.Len())
		for at := range items {
			items[at] = w.plain(as.items, value.Index(at), fmt.Sprintf("%s[%d]", path, at))
		}
		return items
	case object:
		found := members{}
		keys := value.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, key := range keys {
			found.add(key.String(), w.plain(as.items, value.MapIndex(key), inside(key.String())), true)
		}
		return found
	case record:
		found := members{}
		for _, field := range as.fields {
			member := value.FieldByIndex(field.index)
			isEmpty := member.IsZero() || member.Kind() == reflect.Slice && member.Len() == 0
			if !field.omitted || !isEmpty {
				found.add(field.name, w.plain(field.shape, member, inside(field.name)), true)
			}
		}
		return found
	}
	return w.leaf(as, value, path)
}

func (w *writer) leaf(as *shape, value reflect.Value, path string) any {
	text, err := jsonText(value.Interface())
	if err != nil {
		w.note("%s` cannot be written as JSON: %s", path, err)
		return nil
	}
	plain, err := parse(text)
	if err != nil {
		w.note("%s` cannot be written as JSON: %s", path, err)
	} else if wrong := as.wrong(plain); wrong != "" {
		w.note("%s`: expected %s, got %s", path, wrong, shown(plain))
	}
	return json.RawMessage(text)
}
