package sim_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ownWire is the transport of all clients of a world. It holds, loses and counts requests and answers.
type ownWire struct {
	server *ownServer
	mutant ownMutant
	trace  *trace
	next   *gateway
	places []ownPlace

	mu      sync.Mutex
	moved   *sync.Cond // broadcast when one of the fields below has changed
	held    []bool     // by source: its watches are held
	budget  []int      // by source: the number of events that may pass
	slow    bool       // lists are held
	down    bool       // lists and watches fail
	resets  int        // how often everything in progress was broken
	reached []int      // by source: the version up to which the informer has received everything
	listed  []int      // the number of lists, by source
	asked   []int      // the number of lists and watches, by source
	texts   bool       // some lists and watches are answered with a text
	gates   map[*gate]bool
}

// ownPlace is what a source includes.
type ownPlace struct{ namespace, selector string }

func newOwnWire(s *ownServer, places []ownPlace, m ownMutant) *ownWire {
	w := &ownWire{server: s, mutant: m, places: places, held: make([]bool, len(places)), budget: make([]int, len(places)), reached: make([]int, len(places)), listed: make([]int, len(places)), asked: make([]int, len(places)), gates: map[*gate]bool{}}
	w.moved = sync.NewCond(&w.mu)
	return w
}

// change changes what is held.
func (w *ownWire) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	w.moved.Broadcast()
}

// wait waits until a condition holds. It fails if everything in progress is broken or the request ends.
func (w *ownWire) wait(ctx context.Context, until func() bool) error {
	defer context.AfterFunc(ctx, func() { w.change(func() {}) })()
	w.mu.Lock()
	defer w.mu.Unlock()
	for resets := w.resets; !until(); w.moved.Wait() {
		if w.resets != resets {
			return errHealed
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// RoundTrip sends a request to the current server.
func (w *ownWire) RoundTrip(r *http.Request) (*http.Response, error) {
	query, source := r.URL.Query(), w.source(r)
	if source >= 0 { // gates read JSON
		r = r.Clone(r.Context())
		if w.mutant.ignoresSelectors {
			all := r.URL.Query()
			all.Del("labelSelector")
			r.URL.RawQuery = all.Encode()
		}
		r.Header.Set("Accept", withoutProtobuf(r.Header.Get("Accept")))
	}
	switch {
	case r.Method != http.MethodGet:
		return w.write(r)
	case source < 0 || query.Get("limit") == "1" || query.Get("resourceVersionMatch") == string(metav1.ResourceVersionMatchExact):
		return w.next.RoundTrip(r)
	}
	w.trace.add(fmt.Sprint("requests ", source), "%s", r.URL.RawQuery)
	switch {
	case w.isDown():
		return nil, errHealed
	case w.textIsDue(source):
		return &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(strings.NewReader("upstream unavailable")), Request: r}, nil
	case query.Get("watch") != "" && query.Get("watch") != "false":
		return w.watch(r, source, query.Get("sendInitialEvents") == "true")
	}
	return w.list(r, source)
}

// withoutProtobuf returns the media types that a client accepts, except protobuf.
func withoutProtobuf(accept string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(accept, ","), func(form string) bool { return strings.Contains(form, "protobuf") }), ",")
}

// progress returns, by source, the version up to which the informer has received everything, and the
// number of lists.
func (w *ownWire) progress() (reached, listed []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.reached), slices.Clone(w.listed)
}

func (w *ownWire) isDown() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.down
}

// textIsDue counts a request. It reports whether a proxy answers the request with a text, as it does for
// one in five.
func (w *ownWire) textIsDue(source int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[source]++
	return w.texts && w.asked[source]%5 == 2
}

// source returns the source that a list or watch belongs to, or -1.
func (w *ownWire) source(r *http.Request) int {
	for i, p := range w.places {
		end := "/" + w.server.resource.Resource
		if p.namespace != "" {
			end = "/namespaces/" + p.namespace + end
		}
		if strings.HasSuffix(r.URL.Path, end) && r.URL.Query().Get("labelSelector") == p.selector {
			return i
		}
	}
	return -1
}

// write sends a write. Its fate decides what happens to it.
func (w *ownWire) write(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	must(err)
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	on, _ := r.Context().Value(ownWriteKey{}).(*ownWrite)
	if on != nil && on.fate == heldRequest {
		<-on.released
	}
	if w.mutant.holdsCalls {
		time.Sleep(5 * time.Second)
	}
	answer, at, err := w.server.apply(r, string(body), func() (*http.Response, error) { return w.next.RoundTrip(r) })
	if on == nil || err != nil {
		return answer, err
	}
	content, err := io.ReadAll(answer.Body) // read it before the answer is held, because the server may end meanwhile
	must(err)
	must(answer.Body.Close())
	answer.Body = io.NopCloser(bytes.NewReader(content))
	on.applied(at, answer.StatusCode < http.StatusMultipleChoices)
	if on.late {
		time.Sleep(2 * time.Millisecond)
	}
	switch on.fate {
	case heldAnswer:
		<-on.released
	case lostAnswer:
		return nil, errHealed
	case failedAnswer:
		text := `{"kind":"Status","apiVersion":"v1","status":"Failure","code":500}`
		return &http.Response{StatusCode: http.StatusInternalServerError, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
	case cutAnswer:
		answer.Body = io.NopCloser(io.MultiReader(bytes.NewReader(content[:len(content)/2]), brokenReader{}))
	}
	return answer, nil
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errHealed }

// list sends a list. While lists are held, so is its answer.
func (w *ownWire) list(r *http.Request, source int) (*http.Response, error) {
	answer, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	if err := w.wait(r.Context(), func() bool { return !w.slow }); err != nil {
		return nil, err
	}
	time.Sleep(w.turn(source))
	list := &metav1.PartialObjectMetadataList{}
	if answer.StatusCode == http.StatusOK && json.Unmarshal(body, list) == nil && list.ResourceVersion != "" {
		w.change(func() { w.reached[source], w.listed[source] = versionOf(list), w.listed[source]+w.counted() })
	}
	return answer, nil
}

// watch opens a watch with a gate.
func (w *ownWire) watch(r *http.Request, source int, streams bool) (*http.Response, error) {
	answer, err := w.next.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		return answer, err
	}
	g := &gate{ownWire: w, body: answer.Body, ctx: r.Context(), canceled: r.Cancel, source: source, streams: streams} //nolint:staticcheck // http.Client reports its time-out by Cancel
	w.change(func() { w.gates[g] = true })
	go g.pump()
	answer.Body = g
	return answer, nil
}

// gate is the body of a watch. It lets events pass one by one. Fields without a comment do not change.
type gate struct {
	*ownWire
	body     io.ReadCloser
	ctx      context.Context
	canceled <-chan struct{} // the Cancel of the request
	source   int
	streams  bool     // the initial state is in progress; guarded by mu
	lines    [][]byte // lines that have arrived but not passed; guarded by mu
	end      error    // guarded by mu
	broken   bool     // guarded by mu
	rest     []byte   // the unread part of a line that has passed; used by the reader
}

// pump reads events as they arrive.
func (g *gate) pump() {
	for in := bufio.NewReader(g.body); ; {
		line, err := in.ReadBytes('\n')
		g.change(func() {
			if g.end = err; err == nil && !g.mutant.loses(line) {
				g.lines = append(g.lines, line)
			}
		})
		if err != nil {
			return
		}
	}
}

// errCanceled is the error of a body whose client has closed the request's Cancel channel at its
// timeout.
var errCanceled = errors.New("net/http: request canceled")

// Read waits for an event that may pass.
func (g *gate) Read(p []byte) (int, error) {
	if len(g.rest) == 0 {
		if err := g.pass(); err != nil {
			return 0, err
		}
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// turn is the duration of a source's events and lists. Two sources never act at the same moment, nor at
// the moment of an answer to a write, because then the scheduler would decide their order.
func (w *ownWire) turn(source int) time.Duration {
	return time.Duration(1+source) * 137 * time.Microsecond
}

// pass waits for the next event.
func (g *gate) pass() error {
	err := g.wait(g.ctx, func() bool {
		open := !g.held[g.source] || g.budget[g.source] > 0
		return g.broken || open && (len(g.lines) > 0 || g.end != nil)
	})
	time.Sleep(g.turn(g.source))
	if err != nil {
		select {
		case <-g.canceled:
			return errCanceled
		default:
			return err
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.broken && g.mutant.cancels:
		return errCanceled
	case g.broken:
		return io.ErrUnexpectedEOF
	}
	if len(g.lines) == 0 {
		return g.end
	}
	g.rest, g.lines = g.lines[0], g.lines[1:]
	g.budget[g.source] = max(0, g.budget[g.source]-1)
	g.note(g.rest)
	return nil
}

// note records the version up to which the informer has received everything. The caller holds mu.
func (g *gate) note(line []byte) {
	var e struct {
		Type   string
		Object unstructured.Unstructured
	}
	must(json.Unmarshal(line, &e))
	if e.Type == "ERROR" || g.streams && e.Object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "" {
		return
	}
	if g.streams {
		g.listed[g.source] += g.counted()
	}
	g.streams, g.reached[g.source] = false, versionOf(&e.Object)
}

// Close ends the watch.
func (g *gate) Close() error {
	g.change(func() {
		delete(g.gates, g)
		g.broken = true
	})
	return g.body.Close()
}

// counted is the number by which a list counts.
func (w *ownWire) counted() int {
	if w.mutant.hidesLists {
		return 0
	}
	return 1
}

// breakAll breaks everything in progress: all watches, and the held lists.
func (w *ownWire) breakAll() {
	w.change(func() {
		w.resets++
		for g := range w.gates {
			g.broken = true
		}
	})
}
