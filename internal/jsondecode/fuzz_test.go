package jsondecode

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// seeds are texts of all kinds.
func seeds(f *testing.F) []string {
	f.Helper()
	all := []string{string(podNumber(f, 1)), string(podNumber(f, 2)), string(resourceNumber(1)), string(resourceNumber(2)), definition, coreEvent}
	for _, odd := range oddities {
		all = append(all, odd, `{"kind":"A","metadata":{"labels":{"a":`+odd+`}},"spec":{"x":[`+odd+`],"data":{"y":`+odd+`}}}`)
	}
	return all
}

// Two objects are decoded in turn, so that each one may share values with the other.
func FuzzUnstructured(f *testing.F) {
	all := seeds(f)
	for i := range all {
		f.Add(all[i], all[(i+1)%len(all)])
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		d := decoders()
		for range 2 {
			sameUnstructured(t, d, one)
			sameUnstructured(t, d, two)
		}
		u := &unstructured.Unstructured{}
		_, _, err := unstructured.UnstructuredJSONScheme.Decode([]byte(one), nil, u)
		got, gotErr := d["values"].Decode([]byte(one))
		if err == nil {
			require.NoError(t, gotErr)
			require.Equal(t, u.Object, got)
		} else if !runtime.IsMissingKind(err) {
			require.Error(t, gotErr)
		}
		if gotErr == nil {
			checkSharing(t, got, must(d["values"].Decode([]byte(one))))
		}
	})
}

func must(m map[string]any, err error) map[string]any {
	if err != nil {
		panic(err)
	}
	return m
}

// checkSharing fails if objects share values that programs write into.
func checkSharing(t *testing.T, a, b map[string]any) {
	t.Helper()
	for _, path := range sharing(a, b) {
		path = "." + strings.TrimPrefix(path, ".metadata.managedFields")
		for _, name := range []string{".metadata.", ".data.", ".stringData.", ".binaryData.", ".nodeSelector."} {
			if strings.Contains(path+".", name) && !strings.Contains(path, "managedFields") {
				t.Fatalf("%s is shared", path)
			}
		}
	}
}

func FuzzTyped(f *testing.F) {
	all := seeds(f)
	for i := range all {
		f.Add(all[i], all[(i+1)%len(all)])
	}
	for _, name := range []string{"map", "leafs", "lists", "limits", "pointers", "any", "time", "bytes", "deep", "port", "raw"} {
		f.Add(`{"`+name+`":{"a":{"name":"x","n":1}}}`, `{"`+name+`":["a",{"a":"1"}]}`)
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		for _, object := range []any{corev1.Pod{}, zoo{}} {
			d := typedDecoders(object)
			for range 2 {
				sameTyped(t, d, one)
				sameTyped(t, d, two)
			}
		}
	})
}

// slowList reads a list like encoding/json.
func slowList(body []byte) (items []string, head ListHead, ok bool) {
	members, ok := slowMembers(body)
	if !ok {
		return nil, head, false
	}
	read := map[string]int{}
	for _, m := range members {
		read[m.key]++
		switch m.key {
		case "items":
			var raw []json.RawMessage
			if json.Unmarshal(m.value, &raw) != nil {
				return nil, head, false
			}
			head.Items = SomeItems
			if raw == nil {
				head.Items = NullItems
			}
			for _, r := range raw {
				items = append(items, string(r))
			}
		case "apiVersion":
			ok = ok && json.Unmarshal(m.value, &head.APIVersion) == nil
		case "kind":
			ok = ok && json.Unmarshal(m.value, &head.Kind) == nil
		case "metadata":
			var meta struct {
				ResourceVersion    string `json:"resourceVersion"`
				Continue           string `json:"continue"`
				RemainingItemCount *int64 `json:"remainingItemCount"`
			}
			ok = ok && utiljson.Unmarshal(m.value, &meta) == nil
			head.ResourceVersion, head.Continue, head.RemainingItemCount = meta.ResourceVersion, meta.Continue, meta.RemainingItemCount
		}
	}
	for _, key := range []string{"items", "apiVersion", "kind", "metadata"} {
		ok = ok && read[key] < 2
	}
	return items, head, ok
}

type member struct {
	key   string
	value json.RawMessage
}

// slowMembers returns the members of an object in order.
func slowMembers(body []byte) (members []member, ok bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	if first, err := d.Token(); err != nil || first != json.Delim('{') || !json.Valid(body) {
		return nil, false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, false
		}
		members = append(members, member{key.(string), value})
	}
	return members, true
}

// tooDeep reports whether a text may be so deep that decoding it as a whole and item by item give
// different results.
func tooDeep(text string) bool {
	return strings.Count(text, "{")+strings.Count(text, "[") >= deepest-2
}

func FuzzList(f *testing.F) {
	for _, odd := range oddities {
		f.Add(`{"items":[` + odd + `],"kind":"L"}`)
		f.Add(`{"kind":` + odd + `,"x":[` + odd + `],"metadata":{"continue":` + odd + `},"items":[1, {"a":[2]} ]} `)
	}
	f.Add(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","remainingItemCount":3},"items":[{"a":1},{"b":[2]}]}` + "\n")
	f.Fuzz(func(t *testing.T, body string) {
		if tooDeep(body) {
			return
		}
		want, wantHead, ok := slowList([]byte(body))
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(body), "one by one": iotest.OneByteReader(strings.NewReader(body))} {
			items, head, err := readList(r)
			for _, item := range items {
				if !json.Valid([]byte(item)) {
					err = ErrMalformed // the decoder reports it
				}
			}
			if !ok {
				require.Error(t, err, name)
				continue
			}
			require.NoError(t, err, name)
			require.Equal(t, want, items, name)
			require.Equal(t, wantHead, head, name)
		}
	})
}

// slowEvents reads events like encoding/json.
func slowEvents(body string) (events []event, ok bool) {
	d := json.NewDecoder(strings.NewReader(body))
	for {
		var frame json.RawMessage
		if err := d.Decode(&frame); err != nil {
			return events, errors.Is(err, io.EOF)
		}
		members, ok := slowMembers(frame)
		if !ok {
			return events, false
		}
		var e event
		for _, m := range members {
			switch {
			case m.key == "object" && string(m.value) != "null":
				e.object = string(m.value)
			case m.key == "type":
				if json.Unmarshal(m.value, &e.typ) != nil {
					return events, false
				}
			}
		}
		events = append(events, e)
	}
}

// mismatched reports whether a text has a closing bracket that does not match the last open one.
func mismatched(body string) bool {
	var open []rune
	quoted, escaped := false, false
	for _, c := range body {
		switch {
		case escaped:
			escaped = false
		case quoted:
			quoted, escaped = c != '"', c == '\\'
		case c == '"':
			quoted = true
		case c == '{', c == '[':
			open = append(open, c+2)
		case c == '}', c == ']':
			if len(open) == 0 || open[len(open)-1] != c {
				return true
			}
			open = open[:len(open)-1]
		}
	}
	return false
}

func FuzzEvents(f *testing.F) {
	for _, broken := range []string{`[[}}`, `{"a":[}]`, `{"a":{]}`} {
		f.Add(`{"type":"ADDED","object":` + broken + `}{"type":"ADDED","object":{"a":1}}`)
	}
	for _, odd := range oddities {
		f.Add(`{"type":"ADDED","object":` + odd + `}` + "\n" + `{"object":{"a":1},"type":` + odd + `}{"x":` + odd + `}`)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if tooDeep(body) {
			return
		}
		if mismatched(body) {
			more := errors.New("more was read")
			_, err := readEvents(io.MultiReader(strings.NewReader(body), iotest.ErrReader(more)))
			require.NotErrorIs(t, err, more)
		}
		want, ok := slowEvents(body)
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(body), "one by one": iotest.OneByteReader(strings.NewReader(body))} {
			events, err := readEvents(r)
			for i, e := range events {
				if e.object != "" && !json.Valid([]byte(e.object)) {
					events, err = events[:i], ErrMalformed // the decoder reports it
					break
				}
			}
			require.Equal(t, ok, err == nil, name)
			require.True(t, slices.Equal(want, events), "%s: %q instead of %q", name, events, want)
		}
	})
}

// FuzzIdentity compares the identity read from an item with the decoded item.
func FuzzIdentity(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, item string) {
		id, ok := ReadIdentity([]byte(item))
		members, valid := slowMembers([]byte(item))
		if !valid {
			return // the result for invalid JSON does not matter, as long as ReadIdentity returns
		}
		requireSplit(t, item, members)
		var want object.Identity
		for _, m := range members {
			if m.key == "metadata" {
				parts, _ := slowMembers(m.value)
				for _, p := range parts {
					if field := fieldOf(&want, p.key); field != nil {
						*field = ""
						_ = json.Unmarshal(p.value, field)
					}
				}
				break
			}
		}
		require.Equal(t, want.Key.Name != "", ok)
		if ok {
			require.Equal(t, want, id)
		}
	})
}

// Objects decoded with a table of many other objects equal objects decoded without one.
func TestManyKindsOfObjectsShareATable(t *testing.T) {
	table := share.New(1 << 16) // too small for most values
	d := map[string]*Unstructured{"one": NewUnstructured(Options{Table: table, Values: true}), "two": NewUnstructured(Options{Table: table, Values: true})}
	pods := map[string]*Typed{"": NewTyped(reflect.TypeFor[corev1.Pod](), Options{Table: table, Values: true})}
	for n := range 50 {
		sameUnstructured(t, d, string(resourceNumber(n%7)))
		sameUnstructured(t, d, string(podNumber(t, n%5)))
		sameTyped(t, pods, string(podNumber(t, n%5)))
	}
}

// requireSplit fails unless Split returns the members of a well-formed object.
func requireSplit(t *testing.T, item string, members []member) {
	var want parts
	once := true
	for _, m := range members {
		once = want.add(m.key, m.value) && once
	}
	kind, metadata, ok := Split([]byte(item))
	require.Equal(t, once, ok)
	if !ok {
		return
	}
	require.Equal(t, string(want.metadata), string(metadata))
	for name, raw := range map[string][]byte{kind.Kind: want.kind, kind.APIVersion: want.version} {
		var text string
		_ = json.Unmarshal(raw, &text) // a value that is not a string counts as missing
		require.Equal(t, text, name)
	}
}
