package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	goruntime "runtime"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

const endOfInitialState = `{"type":"BOOKMARK","object":{"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"9",` +
	`"annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"

// Items of an initial state that arrive one by one are passed on together. The bookmark at its end is
// passed on at once, and so are later events.
func TestItemsOfAnInitialStateAreGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, server := io.Pipe()
		kind := NewDecoder(Objects{Type: typeOfPod}, Sharing{}, nil)
		r := Receive(&Reception{Ctx: t.Context(), Body: body, Decoder: kind, Initial: true}, false)
		send := func(text string) {
			_, err := io.WriteString(server, text)
			require.NoError(t, err)
			synctest.Wait()
		}
		taken := func() int {
			select {
			case batch := <-r.Batches:
				return len(batch)
			default:
				return 0
			}
		}
		item := podEvent("ADDED", podText("a", "1"))

		send(item)
		require.Equal(t, 1, taken(), "the first item, without waiting for a second")
		send(item)
		send(item)
		require.Zero(t, taken())
		time.Sleep(gatherFor)
		send(item)
		require.Equal(t, 3, taken())
		send(item)
		send(endOfInitialState)
		require.Equal(t, 2, taken(), "the end is passed on at once")
		send(item)
		require.Equal(t, 1, taken(), "an event of the watch")

		require.NoError(t, server.Close())
		synctest.Wait()
		require.Zero(t, taken())
		require.NoError(t, r.Err)
	})
}

// Gathered items are passed on when the body ends.
func TestGatheredItemsAreNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := strings.Repeat(podEvent("ADDED", podText("a", "1")), 3)
		kind := NewDecoder(Objects{Type: typeOfPod}, Sharing{}, nil)
		body := io.NopCloser(iotest.OneByteReader(strings.NewReader(text)))
		r := Receive(&Reception{Ctx: t.Context(), Body: body, Decoder: kind, Initial: true}, false)
		n := 0
		for batch := range r.Batches {
			n += len(batch)
		}
		require.Equal(t, 3, n)
	})
}

// Items without a kind wait for the kind of their list, but not in any number.
func TestItemsThatWaitForTheirKindAreBounded(t *testing.T) {
	r := &Reception{Ctx: t.Context(), Decoder: NewDecoder(Objects{Type: Unstructured}, Sharing{}, nil), list: true}
	it := item{event: watch.Added, format: formatJSON, data: []byte(podText("a", "1"))}
	require.NoError(t, r.addItem(it, &ListHead{}))
	r.bytes = kindlessBytes
	require.ErrorIs(t, r.addItem(it, &ListHead{}), ErrBadAnswer)
}

// Items without a kind are dropped if their list fails.
func TestItemsThatNeverGetTheirKindAreDropped(t *testing.T) {
	items := `{"items":[` + podText("a", "1") + "," + podText("b", "2")
	for name, text := range map[string]string{
		"the connection breaks":   items + ",",
		"the list has no kind":    items + `],"metadata":{"resourceVersion":"5"}}`,
		"the list is a table":     items + `],"kind":"Table","apiVersion":"meta.k8s.io/v1"}`,
		"the list has odd fields": items + `],"kind":7}`,
	} {
		t.Run(name, func(t *testing.T) {
			kind := NewDecoder(Objects{Type: Unstructured}, Sharing{}, nil)
			r := Receive(&Reception{Ctx: t.Context(), Body: io.NopCloser(strings.NewReader(text)), Decoder: kind}, true)
			for batch := range r.Batches {
				require.Empty(t, batch)
			}
			require.Error(t, r.Err)
		})
	}
}

// A body that does not end with its context does not delay the reception. Its later items are dropped.
func TestBodyThatOutlivesItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	body := &stuckBody{free: make(chan struct{}), text: strings.NewReader(podEvent("ADDED", podText("a", "1")))}
	kind := NewDecoder(Objects{Type: typeOfPod}, Sharing{}, nil)
	r := Receive(&Reception{Ctx: ctx, Body: body, Decoder: kind}, false)
	cancel()
	began := time.Now()
	_ = r.Close() // the context's cause
	require.Less(t, time.Since(began), 5*time.Second)
	close(body.free)
	for batch := range r.Batches {
		require.Empty(t, batch)
	}
}

// stuckBody is a body whose reads ignore Close.
type stuckBody struct {
	free chan struct{}
	text io.Reader
}

func (b *stuckBody) Read(p []byte) (int, error) {
	<-b.free
	return b.text.Read(p)
}

func (b *stuckBody) Close() error { return nil }

// panicking is a custom resource whose UnmarshalJSON panics for one name.
type panicking struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              panickingSpec `json:"spec"`
}

type panickingSpec struct{ Text string }

func (s *panickingSpec) UnmarshalJSON(data []byte) error {
	if strings.Contains(string(data), "bad") {
		panic("a user's")
	}
	s.Text = string(data)
	return nil
}

func (p *panicking) DeepCopyObject() runtime.Object {
	other := *p
	return &other
}

// Only an object whose UnmarshalJSON panics is left out.
func TestUnmarshalJSONThatPanics(t *testing.T) {
	kind := NewDecoder(Objects{Type: reflect.TypeFor[*panicking]()}, Sharing{}, nil)
	text := podList("5", `{"metadata":{"name":"a"},"spec":"good"}`, `{"metadata":{"name":"b"},"spec":"bad"}`, `{"metadata":{"name":"c"},"spec":"good"}`)
	r := Receive(&Reception{Ctx: t.Context(), Body: io.NopCloser(strings.NewReader(text)), Decoder: kind}, true)
	var names []string
	for batch := range r.Batches {
		for _, a := range batch {
			if a.Undecodable != nil {
				require.ErrorIs(t, a.Undecodable, ErrPanic)
				require.Equal(t, "b", a.ID.Key.Name)
				continue
			}
			names = append(names, a.Object.(*panicking).Name)
		}
	}
	require.NoError(t, r.Err)
	require.Equal(t, []string{"a", "c"}, names)
}

var typeOfPod = reflect.TypeFor[*corev1.Pod]()

func podList(version string, items ...string) string {
	return fmt.Sprintf(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":%q},"items":[%s]}`, version, strings.Join(items, ","))
}

func podText(name, version string) string {
	return fmt.Sprintf(`{"metadata":{"namespace":"ns","name":%q,"uid":"u-%s","resourceVersion":%q},"spec":{}}`, name, name, version)
}

func podEvent(kind, pod string) string {
	return fmt.Sprintf(`{"type":%q,"object":{"kind":"Pod","apiVersion":"v1",%s}`, kind, pod[1:])
}

// readerFunc is a reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A waiting watch holds a small buffer, regardless of its initial state.
func TestAWatchThatWaitsHoldsASmallBuffer(t *testing.T) {
	const watches, most = 50, 24 << 10
	var pods []watch.Event
	var text strings.Builder
	for i := range 500 {
		pods = append(pods, watch.Event{Type: watch.Added, Object: somePod(fmt.Sprint("pod-", i), "1")})
		text.WriteString(podEvent("ADDED", podText(fmt.Sprint("pod-", i), "1")))
	}
	pods = append(pods, watch.Event{Type: watch.Bookmark, Object: somePod("", "9")})
	text.WriteString(endOfInitialState)
	kind := NewDecoder(Objects{Type: typeOfPod}, Sharing{}, nil)
	for name, body := range map[string]string{"JSON": text.String(), "protobuf": string(encoded(t, pods...))} {
		t.Run(name, func(t *testing.T) {
			heap := func() int {
				var stats goruntime.MemStats
				goruntime.GC()
				goruntime.ReadMemStats(&stats)
				return int(stats.HeapAlloc) //nolint:gosec // it fits
			}
			read := func() *Reception {
				waits := make(chan struct{})
				r := Receive(&Reception{Ctx: t.Context(), Decoder: kind, Initial: true, Body: io.NopCloser(io.MultiReader(strings.NewReader(body), readerFunc(func([]byte) (int, error) {
					close(waits)
					<-t.Context().Done()
					return 0, io.EOF
				})))}, false)
				for n := 0; n <= 500; {
					n += len(<-r.Batches)
				}
				<-waits
				return r
			}
			read() // allocates what all watches share
			before, all := heap(), [watches]*Reception{}
			for i := range all {
				all[i] = read()
			}
			require.Less(t, (heap()-before)/watches, most)
			goruntime.KeepAlive(all)
		})
	}
}

// A watch ends regularly in the same cases as in client-go.
func TestEndOfWatch(t *testing.T) {
	broken := &json.SyntaxError{}
	require.NoError(t, watchError(io.EOF))
	require.NoError(t, watchError(io.ErrUnexpectedEOF))
	require.NoError(t, watchError(errors.New("http2: server sent GOAWAY and closed the connection")))
	require.ErrorIs(t, watchError(broken), broken)
}
