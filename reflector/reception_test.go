package reflector

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// An item that cannot be decoded is written as Poisoned, or as Deleted if it was deleted. All other
// items are written.
func TestUndecodableItem(t *testing.T) {
	server := &scripted{
		lists: []string{podList("5", podText("a", "1", ""), podText("bad", "2", badSpec), podText("c", "3", ""))},
		event: []string{podEvent("MODIFIED", podText("c", "6", badSpec)) + podEvent("DELETED", podText("bad", "7", badSpec)) + podEvent("MODIFIED", podText("c", "8", ""))},
	}
	sink := newTaking()
	events := reflectInto(t, server.serve(t), sink, Options{})
	for _, want := range []struct {
		op      deltafifo.Op
		name    string
		version string
		lost    bool
	}{
		{deltafifo.Added, "a", "1", false},
		{deltafifo.Poisoned, "bad", "2", false},
		{deltafifo.Added, "c", "3", false},
		{deltafifo.Poisoned, "c", "6", false},
		{deltafifo.Deleted, "bad", "7", true},
		{deltafifo.Modified, "c", "8", false},
	} {
		d := <-sink.deltas
		require.Equal(t, want.op, d.Op, want)
		require.Equal(t, indexer.Key{Namespace: "ns", Name: want.name}, d.Key)
		require.Equal(t, []string{want.version, "u-" + want.name}, []string{d.Version, d.UID})
		require.Equal(t, want.lost, d.Lost)
		require.Equal(t, want.lost, d.Object == nil)
		_, why := d.Object.(error)
		require.Equal(t, want.op == deltafifo.Poisoned, why, "what is quarantined says why")
	}
	recorded := 0
	for len(events) > 0 {
		switch e := (<-events).(type) {
		case Undecodable:
			recorded++
			require.Error(t, e.Err)
		case Failed:
			t.Error(e.Err)
		}
	}
	require.Equal(t, 3, recorded)
}

// At the beginning of a watch without a version, an object that cannot be decoded is an Added event like the
// others: its version does not count (B63).
func TestContract_B63_AnUndecodableAddedEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &pods{
			list: func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, podList("")) },
			watch: func(n int, w http.ResponseWriter, r *http.Request) {
				if n > 0 {
					stays(w, r)
					return
				}
				_, _ = io.WriteString(w, podEvent("ADDED", podText("bad", "90", badSpec)))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(2 * time.Second) // a shorter watch has failed
			},
		}
		f := follow(t, neverStreaming(clients["generated"].source(t, server.servePiped(t, false))), typeOfPod, Options{})
		f.until(f.watching(2))
		require.Equal(t, `list at "0", watch at "", watch at ""`, server.requests())
	})
}

// An object that cannot be decoded is progress of a stream like any other.
func TestAStreamOfUndecodableObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const objects = 3
		server := &pods{stream: func(_ int, w http.ResponseWriter, r *http.Request) {
			for n := range objects {
				_, _ = io.WriteString(w, podEvent("ADDED", podText(fmt.Sprint("bad-", n), "3", badSpec)))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(4 * time.Second)
			}
			_, _ = io.WriteString(w, podEvent("BOOKMARK", endText("5")))
			stays(w, r)
		}}
		f := follow(t, clients["generated"].source(t, server.servePiped(t, false)), typeOfPod, Options{})
		f.until(f.watching(1))
		f.mu.Lock()
		defer f.mu.Unlock()
		listed := eventsOf[Listed](f)[0]
		require.Equal(t, OpStream, listed.Operation)
		require.Equal(t, objects, listed.Objects)
	})
}

// firstFailure returns the first event other than Asked.
func firstFailure(events <-chan Event) Event {
	for e := range events {
		if _, asked := e.(Asked); !asked {
			return e
		}
	}
	return nil
}

// With FailOnUndecodable the list fails, as in client-go.
func TestFailOnUndecodable(t *testing.T) {
	server := &scripted{lists: []string{podList("5", podText("a", "1", ""), podText("bad", "2", badSpec))}}
	sink := newTaking()
	events := reflectInto(t, server.serve(t), sink, Options{Decoding: Decoding{FailOnUndecodable: true}})
	failed := firstFailure(events)
	require.IsType(t, Failed{}, failed)
	require.ErrorContains(t, failed.(Failed).Err, "quantities must match")
}

// An item without a readable name fails the list, as in client-go.
func TestNamelessUndecodableItem(t *testing.T) {
	server := &scripted{lists: []string{podList("5", `{"metadata":{"name":7}}`)}}
	events := reflectInto(t, server.serve(t), newTaking(), Options{})
	require.IsType(t, Failed{}, firstFailure(events))
}

// A list that breaks off within its items is dropped, and requested again in pages.
func TestListThatBreaksOff(t *testing.T) {
	whole := podList("5", podText("a", "1", ""), podText("b", "2", ""))
	server := &scripted{lists: []string{whole[:len(whole)-20] + "CUT", whole}}
	sink := newTaking()
	events := reflectInto(t, server.serve(t), sink, Options{Rand: func() float64 { return 0 }})
	require.Equal(t, []string{"begin", "abort", "begin", "commit"}, []string{<-sink.marks, <-sink.marks, <-sink.marks, <-sink.marks})
	failed := firstFailure(events)
	require.IsType(t, Failed{}, failed)
	require.ErrorIs(t, failed.(Failed).Err, io.ErrUnexpectedEOF)
	require.Equal(t, []string{`version "0" limit "500"`, `version "" limit "500"`}, server.asked)
}

// An answer that is no list of pods fails, even if it looks like one.
func TestAnswersThatAreNoList(t *testing.T) {
	for name, body := range map[string]string{
		"nothing":      ``,
		"status":       `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`,
		"table":        `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"4"},"rows":[]}`,
		"another kind": `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"4"},"items":[]}`,
		"an object":    `{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"4","name":"a"}}`,
		"text":         `hello`,
	} {
		t.Run(name, func(t *testing.T) {
			sink := newTaking()
			events := reflectInto(t, (&scripted{lists: []string{body}}).serve(t), sink, Options{})
			require.IsType(t, Failed{}, firstFailure(events))
			require.Empty(t, sink.deltas)
		})
	}
}

// D31: objects that the sink holds are not decoded again, even if their bytes differ: the bytes in
// this test cannot be decoded.
func TestContract_D31_WhatIsKnownIsNotDecodedAgain(t *testing.T) {
	server := &scripted{lists: []string{podList("5", podText("a", "1", badSpec), podText("b", "2", ""))}}
	held := &corev1.Pod{}
	sink := newTaking()
	sink.known = map[object.Identity]*corev1.Pod{{Key: indexer.Key{Namespace: "ns", Name: "a"}, UID: "u-a", Version: "1"}: held}
	reflectInto(t, server.serve(t), sink, Options{Version: "4"})
	d := <-sink.deltas
	require.Same(t, held, d.Object)
	require.True(t, d.Recalled)
	require.Equal(t, deltafifo.Added, d.Op)
	d = <-sink.deltas
	require.Equal(t, deltafifo.Added, d.Op, "%+v", d)
	require.Equal(t, "b", podOf(d).Name)
	require.False(t, d.Recalled)
}

// D31: what comes after the initial state of a stream is decoded: the sink may hold it because the program
// has written it.
func TestContract_D31_WhatComesAfterTheInitialStateIsDecoded(t *testing.T) {
	held := &corev1.Pod{}
	a := podEvent("ADDED", podText("a", "1", ""))
	end := `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"1"}}}`
	r := wire.Receive(&wire.Reception{
		Ctx: t.Context(), Body: io.NopCloser(strings.NewReader(a + end + a)), Decoder: wire.NewDecoder(wire.Objects{Type: typeOfPod}, wire.Sharing{}, nil),
		Known: func(object.Identity) (any, bool) { return held, true }, Initial: true,
	}, false)
	var all []wire.Received
	for batch := range r.Batches {
		all = append(all, batch...)
	}
	require.Len(t, all, 3)
	require.Same(t, held, all[0].Known)
	require.Nil(t, all[0].Object)
	require.Nil(t, all[2].Known)
	require.NotNil(t, all[2].Object)
}

// Dropped fields are left out of objects decoded by the reflector or by the client, but not out of
// bookmarks.
func TestDroppedFields(t *testing.T) {
	server := &scripted{
		lists: []string{podList("5", podText("a", "1", `"nodeName":"n","hostname":"h"`))},
		event: []string{podEvent("MODIFIED", podText("a", "6", `"nodeName":"n","hostname":"h"`))},
	}
	for name, wrap := range map[string]func(Source) Source{
		"by the reflector": func(s Source) Source { return s },
		"by the client":    func(s Source) Source { return Source{List: s.List, Watch: s.Watch} },
	} {
		t.Run(name, func(t *testing.T) {
			lists, event := server.lists, server.event
			sink := newTaking()
			reflectInto(t, wrap(server.serve(t)), sink, Options{Decoding: Decoding{Drop: []string{"spec.nodeName"}}})
			for range 2 {
				d := <-sink.deltas
				require.Empty(t, podOf(d).Spec.NodeName)
				require.Equal(t, "h", podOf(d).Spec.Hostname)
			}
			server.lists, server.event = lists, event
		})
	}
}

func TestFieldsThatCannotBeDropped(t *testing.T) {
	for _, path := range []string{"", "metadata", "metadata.name", "metadata.uid", "metadata.finalizers", "metadata.ownerReferences.uid", "a..b"} {
		o := Options{Decoding: Decoding{Drop: []string{path}}}
		require.ErrorIs(t, New(funcs{}.source(), newTaking(), o).Run(t.Context()), ErrBadOptions, path)
	}
}

// The reflector decodes answers only for client-go's own clients. A wrapper or a fake may do
// something else with an answer.
func TestSourcesThatAreLeftToTheirClient(t *testing.T) {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1"})
	require.NoError(t, err)
	dynamically, err := dynamic.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1"})
	require.NoError(t, err)
	pods := client.CoreV1().Pods("")
	for name, source := range map[string]Source{
		"embeds a client":         FromGenerated[*corev1.Pod](struct{ typedcorev1.PodInterface }{pods}, podGVR),
		"without a REST client":   FromGenerated[*corev1.Pod](typedcorev1.New(nil).Pods(""), podGVR),
		"embeds a dynamic client": FromDynamic(struct{ dynamic.Interface }{dynamically}, podGVR, ""),
		"another source":          funcs{}.source(),
	} {
		require.Nil(t, decodes(source), name)
	}
	require.Equal(t, typeOfPod, decodes(FromGenerated[*corev1.Pod](pods, podGVR)))
	require.Equal(t, wire.Unstructured, decodes(FromDynamic(dynamically, podGVR, "")))
	l := newLoop(t.Context(), New(FromGenerated[*corev1.Pod](pods, podGVR), newTaking(), ofType[*unstructured.Unstructured](Options{})))
	require.Nil(t, l.decoder, "objects of another type")
}

// Without Wire in its transport, the dynamic client decodes by itself. With it, one request is taken
// over, and another request with the same context is not.
func TestTakeover(t *testing.T) {
	server := &scripted{lists: []string{podList("5", podText("a", "1", "")), podList("5", podText("b", "1", ""))}}
	for _, wired := range []bool{false, true} {
		h := httptest.NewServer(server)
		config := &rest.Config{Host: h.URL}
		if wired {
			config.Wrap(Wire)
		}
		client, err := dynamic.NewForConfig(config)
		require.NoError(t, err)
		a, err := FromDynamic(client, podGVR, "").Send.ask(t.Context(), metav1.ListOptions{}, true)
		require.NoError(t, err)
		require.Equal(t, wired, a.Body != nil)
		require.Equal(t, wired, a.List == nil)
		if wired {
			text, err := io.ReadAll(a.Body)
			require.NoError(t, err)
			require.Contains(t, string(text), `"name":"b"`)
		} else {
			require.Len(t, a.List.(*unstructured.UnstructuredList).Items, 1)
		}
		a.Close()
		h.Close()
	}
}

// Lists are as a client reads them that knows the kind of its objects: a typed client needs no kind,
// and the kind of untyped items may follow them.
func TestListsWhoseKindIsMissingOrFollows(t *testing.T) {
	untyped := `{"items":[` + podText("a", "3", "") + `],"metadata":{"resourceVersion":"5"},"kind":"PodList","apiVersion":"v1"}`
	for name, row := range map[string]struct{ client, body, kind string }{
		"typed, without a kind":        {"generated", `{"metadata":{"resourceVersion":"5"},"items":[` + podText("a", "3", "") + `]}`, ""},
		"typed, without a version":     {"generated", `{"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[` + podText("a", "3", "") + `]}`, ""},
		"untyped, whose kind follows":  {"dynamic", untyped, "Pod"},
		"metadata, whose kind follows": {"metadata", untyped, ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := &pods{list: func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, row.body) }}
			sink := newTaking()
			events := reflectTo(t, clients[row.client].source(t, server.serve(t)), sink, Options{Type: clients[row.client].object})
			d := <-sink.deltas
			require.Equal(t, "a", d.Key.Name)
			require.Equal(t, row.kind, d.Object.(runtime.Object).GetObjectKind().GroupVersionKind().Kind)
			for len(events) > 0 {
				failed, is := (<-events).(Failed)
				require.False(t, is, failed.Err)
			}
			require.Equal(t, `list at "0"`, strings.Split(server.requests(), ", ")[0])
		})
	}
}

// A server's error is reported with its message, even if its code says success.
func TestErrorWithACodeOfSuccess(t *testing.T) {
	for name := range clients {
		if name == "a bare ListWatch" {
			continue // the client's own error
		}
		t.Run(name, func(t *testing.T) {
			server := &pods{list: func(_ int, w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the quota of today","reason":"Forbidden","code":403}`)
			}}
			events := reflectTo(t, clients[name].source(t, server.serve(t)), newTaking(), Options{Type: clients[name].object})
			failed := firstFailure(events)
			require.IsType(t, Failed{}, failed)
			require.ErrorContains(t, failed.(Failed).Err, "the quota of today")
			require.Equal(t, ErrorForbidden, ClassOf(failed.(Failed).Err))
		})
	}
}

// A page without an end is given up when it exceeds the bound, and not at its end.
func TestAPageWithoutAnEnd(t *testing.T) {
	batches := make(chan []wire.Received, 1)
	l := &loop{incoming: &incoming{Reception: &wire.Reception{Ctx: t.Context(), Batches: batches}, items: maxObjects}}
	batches <- make([]wire.Received, 1)
	_, err := l.readPage()
	require.ErrorIs(t, err, ErrEndless)
	l.pager.objects = maxObjects - 5
	l.incoming.items, l.incoming.request.token = 4, "next"
	batches <- make([]wire.Received, 1)
	in, err := l.readPage()
	require.NoError(t, err)
	require.Equal(t, inItems, in.kind)
	batches <- make([]wire.Received, 1)
	_, err = l.readPage()
	require.ErrorIs(t, err, ErrEndless)
}

// A list of a typed client sends no time-out of the rest.Config, as with client-go.
func TestTimeoutOfTheConfigIsNotSent(t *testing.T) {
	for name := range clients {
		queries := make(chan string, 100)
		server := &pods{list: func(_ int, w http.ResponseWriter, r *http.Request) {
			queries <- r.URL.Query().Get("timeout")
			_, _ = io.WriteString(w, podList("5"))
		}}
		config := server.serve(t)
		config.Timeout = time.Minute
		reflectTo(t, clients[name].source(t, config), newTaking(), Options{Type: clients[name].object})
		want := ""
		if name == "dynamic" || name == "metadata" {
			want = "1m0s" // client-go's do so
		}
		require.Equal(t, want, <-queries, name)
	}
}
