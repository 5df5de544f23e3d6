package reflector_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
)

var errStreamRefused = errors.New("the stream was refused")

// FuzzBodies compares what the reflector makes of the body of an answer with what client-go's
// reflector makes of it. Both ask a real HTTP server.
func FuzzBodies(f *testing.F) {
	compare := comparison(f)
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) { compare(t, maker{r, more}) })
}

// A fuzzer that is guided by coverage compares some ten answers a second, since each one runs two
// clients and a server. Seeds in a loop make some hundreds.
var bodiesFor = flag.Duration("bodies", 0, "how long TestBodies goes on with random answers after those of every run")

// TestBodies is FuzzBodies with some random answers.
func TestBodies(t *testing.T) {
	compare := comparison(t)
	play := func(seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		changes := r.IntN(30)
		compare(t, maker{r, func() bool { changes--; return changes >= 0 }})
	}
	const ofEveryRun = 200
	for seed := range uint64(ofEveryRun) {
		play(seed)
	}
	first, n := rand.Uint64(), uint64(0)
	t.Logf("%d answers of every run passed; others follow from seed %d on", ofEveryRun, first)
	for begin := time.Now(); time.Since(begin) < *bodiesFor; n++ {
		play(first + n)
	}
	t.Log(n, "others passed")
}

// TestBodiesThatDiffered compares answers that were once taken otherwise.
func TestBodiesThatDiffered(t *testing.T) {
	all, compare := comparing(t)
	event := func(object string) []byte {
		return []byte(`{"type":"ADDED","object":{` + object + `,"metadata":{"name":"a","uid":"u","resourceVersion":"10"}}}`)
	}
	for _, l := range all {
		kind := fmt.Sprintf(`"kind":"%sList","apiVersion":%q`, l.kind(), l.apiVersion())
		compare(t, l, &answer{to: forList, contentType: runtime.ContentTypeJSON, body: []byte(`{` + kind + `,"metadata":{"resourceVersion":"30"}}`)})
		for _, body := range [][]byte{
			event(`"kind":"Pod","apiVerSion":"v1"`),
			event(`"KIND":"Pod","apiVersion":"v1"`),
			event(`"kind":"Pod","apiVersion":"/v1"`),
		} {
			if l.isPods() {
				compare(t, l, &answer{to: forWatch, contentType: runtime.ContentTypeJSON, body: body})
			}
		}
	}
}

// comparison returns a function that makes an answer and compares what becomes of it.
func comparison(tb testing.TB) func(t *testing.T, m maker) {
	all, compare := comparing(tb)
	return func(t *testing.T, m maker) {
		l := all[m.IntN(len(all))]
		compare(t, l, m.answer(l))
	}
}

// comparing returns the libraries, and a function that compares what becomes of an answer.
func comparing(tb testing.TB) ([]library, func(t *testing.T, l library, a *answer)) {
	s := newBodyServer(tb)
	return libraries(tb, s), func(t *testing.T, l library, a *answer) {
		theirs, ours := s.theirs(l, a), s.ours(l, a)
		if diff := difference(l, a, theirs, ours); diff != "" {
			t.Fatalf("%s, %s\ntheirs: %s\nours: %s\n%s", l.name, a, theirs, ours, diff)
		}
	}
}

// String describes an answer.
func (a *answer) String() string {
	return fmt.Sprintf("%s, %s, flushes %v, strict %v, cut %v:\n%q", a.to, a.contentType, a.flushes, a.strict, a.cut, a.body)
}

// isRefused says that our reflector takes an answer for no list whatever its items are: a list that comes
// twice, where client-go's reflector reads only the last one, or an object of another kind.
func (a *answer) isRefused() bool {
	switch {
	case a.to != forList:
		return false
	case a.contentType == runtime.ContentTypeProtobuf:
		return len(a.body) > 4 && listsInEnvelope(a.body[4:]) > 1
	default:
		lists, kind := readObject(a.body)
		return lists > 1 || kind != "" && !strings.HasSuffix(kind, "List")
	}
}

// listsInEnvelope returns how many lists are in the envelope of an answer in protobuf.
func listsInEnvelope(envelope []byte) (n int) {
	for len(envelope) > 0 {
		number, _, size := protowire.ConsumeField(envelope)
		if size < 0 {
			return 0
		}
		if envelope = envelope[size:]; number == 2 {
			n++
		}
	}
	return n
}

// readObject returns how many members of an answer in JSON are called items, and its kind.
func readObject(body []byte) (lists int, kind string) {
	d := json.NewDecoder(bytes.NewReader(body))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return 0, ""
	}
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return lists, kind
		}
		switch name {
		case "items":
			lists++
		case "kind":
			_ = json.Unmarshal(value, &kind) // another type of value is no kind
		}
	}
	return lists, kind
}

// complaint takes the difference of two objects.
type complaint struct{ strings.Builder }

func (c *complaint) Errorf(format string, args ...any) { _, _ = fmt.Fprintf(c, format, args...) }

// String describes what a side has made of an answer.
func (s *side) String() string {
	text := fmt.Sprintf("failure: %v, ended by %v, left out: %v", s.failure, s.ended, s.left)
	for _, c := range s.calls {
		text += fmt.Sprintf("\n   %s %q", c.op, c.version)
		for _, object := range c.objects {
			line, _ := json.Marshal(object)
			if len(line) > 700 {
				line = line[:700]
			}
			text += fmt.Sprintf(" %T %s", object, line)
		}
	}
	return text
}

// The differences that are meant, by what client-go's reflector or ours says.
var (
	// Our reflector does not ask for the kind of an object whose client knows it, leaves out events of an
	// unknown type, checks the syntax alone of a list's members that it does not need: a number may be
	// too large; and knows the format of an answer by its first bytes, whatever its media type says.
	lenient = []string{
		"Object 'Kind' is missing", "Object 'apiVersion' is missing", "couldn't get version/kind", "no kind ", "is not registered",
		"unexpected GroupVersion string", "invalid watch event type", "for field APIVersion", "for field Kind", "unable to decode returned object as PartialObjectMetadataList", "into Go value of type float64", "does not appear to be a protobuf message",
	}
	// Our reflector takes an envelope without a list for none, reads versions as text, takes a kind only
	// by its exact name, and refuses groups, which protobuf has given up and no API server writes.
	strict = []string{"an envelope without a list", "of type 3 in a list", "of type 4 in a list", "a list with two members", "two lists in one answer", "an event with two objects", "an event's object with two kinds", "an item without a kind", "list metadata", "a bookmark:", "Kind= instead of"}
)

func says(err error, texts []string) bool {
	return err != nil && slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(err.Error(), text) })
}

// difference says what differs, or "". A watch and a stream are compared by their calls alone, since
// client-go's reflector keeps most of their errors to itself. Where our reflector has reported an
// object or an event, and left it out, client-go's may have ended the request.
func difference(l library, a *answer, theirs, ours *side) string {
	endsSooner := says(ours.failure, strict) || ours.older || ours.failure != nil && a.isRefused()
	endsLater := len(ours.left) > 0 || says(theirs.failure, lenient) || slices.ContainsFunc(theirs.ended, func(err error) bool {
		return says(err, lenient) || bytes.Contains(a.body, []byte("BOOKMARK")) // of a bookmark, ours reads the metadata alone
	})
	if a.to == forList && (theirs.failure == nil) != (ours.failure == nil) && !endsLater && !endsSooner {
		return "only one of them failed"
	}
	for i := range max(len(theirs.calls), len(ours.calls)) {
		switch {
		case i == len(ours.calls) && endsSooner, i == len(theirs.calls) && endsLater:
			return ""
		case i == len(ours.calls):
			return fmt.Sprintf("ours lacks call %d", i)
		case i == len(theirs.calls):
			return fmt.Sprintf("ours has one more call, %d", i)
		case !sameCall(l, a, theirs.calls[i], ours.calls[i]):
			var text complaint
			assert.Equal(&text, theirs.calls[i], ours.calls[i])
			return fmt.Sprintf("call %d differs: %s", i, text.String())
		}
	}
	return ""
}

// ignoresCase says that client-go's metadata client decodes a list by encoding/json, for which the case of
// names does not count, since it does not know the list's kind.
func (a *answer) ignoresCase(l library) bool {
	if _, metadata := l.object.(*metav1.PartialObjectMetadata); !metadata || a.to != forList || a.contentType == runtime.ContentTypeProtobuf {
		return false
	}
	_, kind := readObject(a.body)
	return kind != "PartialObjectMetadataList"
}

// repeatsVersion says that the metadata of a list in JSON have two versions: if the last one is null, our
// reflector takes the first, as client-go's decoder of typed lists does, and not that of unstructured ones.
func (a *answer) repeatsVersion() bool {
	return a.to == forList && a.contentType != runtime.ContentTypeProtobuf && bytes.Count(a.body, []byte(`"resourceVersion":null`)) > 0
}

// sameCall compares two calls. The initial state of a stream is in no order.
func sameCall(l library, a *answer, theirs, ours taken) bool {
	if theirs.op != ours.op || theirs.version != ours.version && (theirs.version != "" || !a.repeatsVersion()) || len(theirs.objects) != len(ours.objects) {
		return false
	}
	if a.ignoresCase(l) {
		return true
	}
	if a.to == forStream {
		byName := func(a, b any) int { return strings.Compare(nameOf(a), nameOf(b)) }
		slices.SortFunc(theirs.objects, byName)
		slices.SortFunc(ours.objects, byName)
	}
	return slices.EqualFunc(theirs.objects, ours.objects, func(a, b any) bool {
		aText, _ := json.Marshal(a)
		bText, _ := json.Marshal(b)
		return string(aText) == string(bText) && equality.Semantic.DeepEqual(a, b)
	})
}

func nameOf(object any) string {
	o, err := meta.Accessor(object)
	if err != nil {
		return ""
	}
	return o.GetNamespace() + "/" + o.GetName()
}
