package jsondecode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// readers deliver the same bytes in different ways.
func readers(body string) map[string]io.Reader {
	return map[string]io.Reader{
		"whole":       strings.NewReader(body),
		"one by one":  iotest.OneByteReader(strings.NewReader(body)),
		"with EOF":    iotest.DataErrReader(strings.NewReader(body)),
		"half":        iotest.HalfReader(strings.NewReader(body)),
		"one and EOF": iotest.DataErrReader(iotest.OneByteReader(strings.NewReader(body))),
	}
}

// readList reads a whole list.
func readList(r io.Reader) (items []string, head ListHead, err error) {
	l := NewList(r)
	for {
		item, err := l.Next()
		if errors.Is(err, io.EOF) {
			return items, l.Head(), nil
		}
		if err != nil {
			return nil, ListHead{}, err
		}
		items = append(items, string(item))
	}
}

func TestListReadsItemsAndHead(t *testing.T) {
	seven := int64(7)
	for body, want := range map[string]struct {
		items []string
		head  ListHead
	}{
		`{}`: {},
		`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[{"a":1},{"b":[2]}]}` + "\n": {
			[]string{`{"a":1}`, `{"b":[2]}`}, ListHead{Kind: "PodList", APIVersion: "v1", ResourceVersion: "5", Items: SomeItems}},
		"" + ` { "apiVersion" : "v1" , "items" : [ { "a" : "}]\"" } , 1 , "x,]" , null ] , "kind" : "L" , "metadata" : { "continue":"c", "remainingItemCount" : 7 } } `: {
			[]string{`{ "a" : "}]\"" }`, `1`, `"x,]"`, `null`}, ListHead{Kind: "L", APIVersion: "v1", Continue: "c", RemainingItemCount: &seven, Items: SomeItems}},
		`{"items":null,"kind":null}`: {nil, ListHead{Items: NullItems}},
		`{"items":[]}`:               {nil, ListHead{Items: SomeItems}},
		`{"it\u0065ms":[true]}`:      {[]string{`true`}, ListHead{Items: SomeItems}},
		`{"kind":"Status","code":410,"details":{"causes":[{"x":"\\"},{}],"e":[]}}`: {nil, ListHead{Kind: "Status"}},
		`{"kind":"B","Items":[1],"Kind":"A"}`:                                      {nil, ListHead{Kind: "B"}},
	} {
		for name, r := range readers(body) {
			items, head, err := readList(r)
			require.NoError(t, err, "%s: %s", name, body)
			assert.Equal(t, want.items, items, "%s: %s", name, body)
			assert.Equal(t, want.head, head, "%s: %s", name, body)
		}
	}
}

func TestListHeadIsReadableBeforeTheItems(t *testing.T) {
	l := NewList(strings.NewReader(`{"kind":"L","metadata":{"resourceVersion":"5"},"items":[1],"apiVersion":"v1"}`))
	_, err := l.Next()
	require.NoError(t, err)
	assert.Equal(t, ListHead{Kind: "L", ResourceVersion: "5", Items: SomeItems}, l.Head())
}

func TestListRefusesWhatIsNone(t *testing.T) {
	for _, body := range []string{
		`[]`, `null`, `1`, `"x"`, `x`, `{"items":{}}`, `{"items":1}`, `{"items":[1],"items":[2]}`, `{"kind":"A","kind":"A"}`, `{"apiVersion":"v1","items":[],"apiVersion":"v1"}`, `{"metadata":{},"metadata":{}}`, `{"items":null,"items":[2]}`, `{"items":[1,]}`, `{"items":[,1]}`,
		`{"items":[1 2]}`, `{"items":[1],}`, `{,"items":[1]}`, `{"items" [1]}`, `{"items":[1]}{}`, `{"items":[1]} x`, `{"kind":1}`, `{"kind":}`, `{"metadata":1}`,
		`{"metadata":{"resourceVersion":1}}`, `{"metadata":{"a"}}`, `{"x":{"a":}}`, `{"x":{"a" 1}}`, `{"x":[1,]}`, `{"x":[}]}`, `{"x":01}`, `{"x":tru}`, "{\"x\":\"\x01\"}",
		`{"x":"\x"}`, `{x:1}`, "{\"\x01\":1}", `{"items":[1}`, `{"items":[1]]`, `{"x":` + strings.Repeat("[", deepest) + strings.Repeat("]", deepest) + "}",
	} {
		for name, r := range readers(body) {
			_, _, err := readList(r)
			assert.ErrorIs(t, err, ErrMalformed, "%s: %s", name, body)
		}
	}
}

func TestListReportsATruncatedBody(t *testing.T) {
	const body = `{"kind":"L","items":[{"a":"\"b"},[1]],"x":{"y":[tr]}}`
	for n := range len(body) - 1 {
		for name, r := range readers(body[:n]) {
			_, _, err := readList(r)
			if n == 0 {
				assert.ErrorIs(t, err, io.ErrUnexpectedEOF, name)
				continue
			}
			assert.Error(t, err, "%s: %s", name, body[:n])
			if n < strings.Index(body, "tr") {
				assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s: %s", name, body[:n])
			}
		}
	}
	broken := errors.New("broken")
	l := NewList(io.MultiReader(strings.NewReader(`{"items":[1,2`), iotest.ErrReader(broken)))
	item, err := l.Next()
	require.NoError(t, err)
	assert.Equal(t, "1", string(item))
	for range 2 {
		_, err = l.Next()
		assert.ErrorIs(t, err, broken)
	}
}

func TestStreamHoldsOneItemOnly(t *testing.T) {
	item := `{"a":"` + strings.Repeat("x", 1000) + `"}`
	body := `{"x":[` + strings.Repeat(item+",", 5000) + `1],"items":[` + strings.Repeat(item+",", 5000) + `{"b":"` + strings.Repeat("y", 1<<20) + `"},` + strings.Repeat(item+",", 4000) + item + `]}`
	l := NewList(strings.NewReader(body))
	for n := range 9002 {
		got, err := l.Next()
		require.NoError(t, err)
		if n != 5000 {
			require.Equal(t, item, string(got))
			if n < 5000 || n > 8000 {
				require.LessOrEqual(t, cap(l.stream.buf), spareBuffer, n)
			}
		}
	}
	_, err := l.Next()
	require.ErrorIs(t, err, io.EOF)
}

func TestStreamRefusesWhatIsTooLarge(t *testing.T) {
	large := `"` + strings.Repeat("x", 1<<20) + `"`
	for _, body := range []string{`{"items":[` + large + `]}`, `{"x":{"y":[` + large + `]}}`, `{"metadata":{"continue":` + large + `}}`} {
		l := NewList(strings.NewReader(body))
		if !strings.Contains(body, "metadata") {
			l.stream.limit = 1 << 18
		}
		_, err := l.Next()
		assert.ErrorIs(t, err, ErrTooLarge)
	}
	e := NewEvents(strings.NewReader(`{"type":"A","object":` + large + `}`))
	e.stream.limit = 1 << 18
	_, _, err := e.Next()
	assert.ErrorIs(t, err, ErrTooLarge)
}

// A server may send any amount of whitespace between tokens.
func TestSpacesAreNotHeld(t *testing.T) {
	spaces := strings.Repeat(" \n", 1<<20)
	l := NewList(strings.NewReader(spaces + `{` + spaces + `"x"` + spaces + `:` + spaces + `[` + spaces + `1` + spaces + `]` + spaces + `,"items":` + spaces + `[` + spaces + `1` + spaces + `,` + spaces + `2]` + spaces + `}` + spaces))
	for _, want := range []string{"1", "2", ""} {
		item, err := l.Next()
		require.Equal(t, want, string(item))
		require.Equal(t, want == "", err != nil)
		require.LessOrEqual(t, cap(l.stream.buf), spareBuffer)
	}
	event := `{` + spaces + `"type":` + spaces + `"A"` + spaces + `,` + spaces + `"object":` + spaces + `1}` + spaces
	e := NewEvents(strings.NewReader(event + event))
	for range 2 {
		typ, object, err := e.Next()
		require.NoError(t, err)
		require.Equal(t, "A1", typ+string(object))
		require.LessOrEqual(t, cap(e.stream.buf), spareBuffer)
	}
	_, _, err := e.Next()
	require.ErrorIs(t, err, io.EOF)
	require.LessOrEqual(t, cap(e.stream.buf), spareBuffer)
}

// When brackets do not match, a reader does not wait for more bytes.
func TestBracketsThatDoNotMatchEndTheStream(t *testing.T) {
	more := errors.New("more was read")
	for _, value := range []string{`[[}`, `{"a":[}`, `{]`, `[{"a":"]"]`, `{"a":{"b":[1,{"c":2]`} {
		for _, body := range []string{`{"type":"A","object":` + value, `{"x":` + value} {
			_, _, err := NewEvents(io.MultiReader(strings.NewReader(body), iotest.ErrReader(more))).Next()
			assert.ErrorIs(t, err, ErrMalformed, body)
		}
		_, err := NewList(io.MultiReader(strings.NewReader(`{"items":[`+value), iotest.ErrReader(more))).Next()
		assert.ErrorIs(t, err, ErrMalformed, value)
	}
}

// event is the type and the object of an event.
type event struct{ typ, object string }

func readEvents(r io.Reader) (events []event, err error) {
	e := NewEvents(r)
	for {
		typ, object, err := e.Next()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		events = append(events, event{typ, string(object)})
	}
}

func TestEventsAreRead(t *testing.T) {
	const body = `{"type":"ADDED","object":{"a":"}"}}` + "\n" + `{"object":[1],"type":"MODIFIED"} {"type":"B\u004f"}{"x":{"y":[1,{}]},"type":"C","object":null,"z":"\""}` + "\r\n{}\n" +
		`{"type":"D","object":1,"object":{"b":2}}`
	want := []event{{"ADDED", `{"a":"}"}`}, {"MODIFIED", `[1]`}, {"BO", ""}, {"C", ""}, {"", ""}, {"D", `{"b":2}`}}
	for name, r := range readers(body) {
		got, err := readEvents(r)
		require.NoError(t, err, name)
		assert.Equal(t, want, got, name)
	}
}

func TestEventsTellHowARequestEnded(t *testing.T) {
	const body = `{"type":"A","object":{"a":1},"x":2}`
	for n := range len(body) - 1 {
		for name, r := range readers(body + "\n" + body[:n]) {
			got, err := readEvents(r)
			assert.Len(t, got, 1, name)
			if n == 0 {
				assert.NoError(t, err, name)
			} else {
				assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s: %s", name, body[:n])
			}
		}
	}
	for _, body := range []string{`1`, `[]`, `null`, `}`, `{"type":1}`, `{"type":"A" "object":1}`, `{"x":tru}`, `{"object":}`, `{"type":"A",}`} {
		for name, r := range readers(body) {
			_, err := readEvents(r)
			assert.ErrorIs(t, err, ErrMalformed, "%s: %s", name, body)
		}
	}
}

// An event is returned as soon as its last byte has arrived, because the next event may take hours.
func TestEventsDoNotWaitForTheNext(t *testing.T) {
	r, w := io.Pipe()
	defer func() { require.NoError(t, r.Close()) }()
	go func() { _, _ = io.WriteString(w, `{"type":"A","object":{"a":1}}`) }()
	typ, object, err := NewEvents(r).Next()
	require.NoError(t, err)
	assert.Equal(t, "A", typ)
	assert.JSONEq(t, `{"a":1}`, string(object))
}

func TestReadIdentity(t *testing.T) {
	web := object.Identity{Key: indexer.Key{Name: "web", Namespace: "shop"}, UID: "u-1", Version: "42"}
	for item, want := range map[string]object.Identity{
		`{"metadata":{"name":"web","namespace":"shop","uid":"u-1","resourceVersion":"42"},`:                                                                              web,
		`{"spec":{"metadata":{"name":"no"}},"kind":"\"}","metadata" : {"labels":{"name":"no"},"uid":"u-1","resourceVersion":"42","namespace":"shop","name":"w\u0065b"}}`: web,
		`{"metadata":{"name":"web","uid":5,"namespace":null}}`:                                                                                                           {Key: indexer.Key{Name: "web"}},
		`{"metadata":{"name":""}}`:            {},
		`{"metadata":{"name":5}}`:             {},
		`{"metadata":{"name":"web"`:           {},
		`{"metadata":["name"]}`:               {},
		`{"spec":{"metadata":{"name":"no"}}}`: {},
		`{`:                                   {},
		``:                                    {},
		`[{"metadata":{"name":"no"}}]`:        {},
	} {
		id, ok := ReadIdentity([]byte(item))
		assert.Equal(t, want.Key.Name != "", ok, item)
		if ok {
			assert.Equal(t, want, id, item)
		}
	}
}

func TestSplit(t *testing.T) {
	pod := metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	for object, want := range map[string]struct {
		kind     metav1.TypeMeta
		metadata string
		ok       bool
	}{
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{}}`:                       {pod, `{"name":"a"}`, true},
		`{ "spec" : {"kind":"no","x":[1,{"metadata":"}"}]}, "kind":"P\u006fd","apiVersion":"v1" }`: {pod, "", true},
		`{"metadata":null,"kind":5}`:        {metav1.TypeMeta{}, "null", true},
		`{"spec":tru,"metadata":{"name":}}`: {metav1.TypeMeta{}, `{"name":}`, true}, // the decoder checks it
		`{}`:                                {ok: true},
		`{"metadata":{},"metadata":{}}`:     {},
		`{"kind":"Pod","k\u0069nd":"Pod","metadata":{}}`:                                     {},
		`{"kind":"Pod","apiVersion":"v1","metadata":{},"spec":{"x":"`:                        {pod, `{}`, true}, // the decoder finds the end
		`{"kind":"Pod","apiVersion":"v1","metadata":{},"spec":{"metadata":1},"status":{}}`:   {pod, `{}`, true},
		`{"kind":"Pod","apiVersion":"v1","metadata":{},"spec":{"metadata":1},"metadata":{}}`: {},
		`{"kind":"Pod","apiVersion":"v1","metadata":{},"spec":{},"met\u0061data":{}}`:        {},
		`{"kind":"Pod","apiVersion":"v1","metadata":{},"spec":{},"kind":"Node"}`:             {},
		`{"kind":"Pod","apiVersion":"v1","metadata":{},"spec":{},"apiVersion":"v2"}`:         {},
		`{"apiVersion":"v1","apiVersion":"v1"}`:                                              {},
		`{"metadata":{}}{}`:                                                                  {},
		`{"metadata":{}`:                                                                     {},
		`{"metadata":`:                                                                       {},
		`{"metadata":{]}`:                                                                    {},
		`[]`:                                                                                 {},
		``:                                                                                   {},
	} {
		kind, metadata, ok := Split([]byte(object))
		assert.Equal(t, want.ok, ok, object)
		if ok {
			assert.Equal(t, want.kind, kind, object)
			assert.Equal(t, want.metadata, string(metadata), object)
		}
	}
}

// The bytes of an item do not change before the next call.
func TestItemsOfALongListAreWhole(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`{"items":[`)
	for n := range 400 {
		if n > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, `{"n":%d,"x":%q}`, n, strings.Repeat("é", n*7%5000))
	}
	b.WriteString("]}")
	for name, r := range readers(b.String()) {
		if strings.HasPrefix(name, "one") {
			continue
		}
		items, _, err := readList(r)
		require.NoError(t, err, name)
		require.Len(t, items, 400)
		for n, item := range items {
			var v struct{ N int }
			require.NoError(t, json.Unmarshal([]byte(item), &v))
			require.Equal(t, n, v.N)
		}
	}
}
