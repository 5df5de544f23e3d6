package reflector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// hostile is a source with a hostile server. It answers the n-th list and the n-th watch, counted
// from 0; without an answer, lists are empty and watches silent.
type hostile struct {
	streams bool
	list    func(n int, o metav1.ListOptions) (kruntime.Object, error)
	watch   func(n int, o metav1.ListOptions) (watch.Interface, error)

	lists, watches int // of the reflector's requests, one at a time
}

func (h *hostile) source() Source {
	s := Source{List: h.List, Watch: h.Watch, Streams: StreamingUnsupported}
	if h.streams {
		s.Streams = StreamingSupported
	}
	return s
}

func (h *hostile) List(ctx context.Context, o metav1.ListOptions) (kruntime.Object, error) {
	h.lists++
	if h.list == nil {
		return empty(ctx, o)
	}
	return h.list(h.lists-1, o)
}

func (h *hostile) Watch(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
	h.watches++
	if h.watch == nil {
		return sends(nil), nil
	}
	return h.watch(h.watches-1, o)
}

// silent stands for an event that never comes.
const silent watch.EventType = "silent"

// sends returns a watch that brings the events of next, until next returns none. Without next the
// watch is silent.
func sends(next func(i int) watch.Event) watch.Interface {
	events, done := make(chan watch.Event, 100), make(chan struct{})
	go func() {
		defer close(events)
		for i := 0; next != nil; i++ {
			e := next(i)
			switch e.Type {
			case "":
				return
			case silent:
				<-done
				return
			}
			select {
			case events <- e:
			case <-done:
				return
			}
		}
		<-done
	}()
	return tap{events: events, stop: func() { close(done) }}
}

// always is a watch that brings one event for ever.
func always(e watch.Event) func(int, metav1.ListOptions) (watch.Interface, error) {
	return func(int, metav1.ListOptions) (watch.Interface, error) {
		return sends(func(int) watch.Event { return e }), nil
	}
}

func onlyWatch(next func(i int) watch.Event) func(int, metav1.ListOptions) (watch.Interface, error) {
	return func(int, metav1.ListOptions) (watch.Interface, error) { return sends(next), nil }
}

func fails(err error) func(int, metav1.ListOptions) (kruntime.Object, error) {
	return func(int, metav1.ListOptions) (kruntime.Object, error) { return nil, err }
}

// pages is a list without an end; token returns the continue token of page n.
func pages(items string, token func(n int) string) func(int, metav1.ListOptions) (kruntime.Object, error) {
	return func(n int, _ metav1.ListOptions) (kruntime.Object, error) {
		return list(strings.Fields(fmt.Sprintf("5 more=%s %s", token(n), items))), nil
	}
}

func errorEvent(code int32, reason metav1.StatusReason) watch.Event {
	return watch.Event{Type: watch.Error, Object: &metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason}}
}

var long = strings.Repeat("9", 1<<20)

// The bounds of an hour with a hostile server: of the requests that failing lists and short watches
// provoke, and of the length of an error text.
const (
	maxFailing  = 200
	maxWatches  = 2*3600 + 2
	maxOversize = object.MaxText + 100 // the text about the operation comes on top
)

// Whatever a server answers for an hour, there are few requests, the reason is reported in a text
// of bounded length, and Run ends with its context.
func TestNoAnswerMakesAHotLoop(t *testing.T) {
	tier.SkipRaced(t)
	for name, test := range map[string]struct {
		source   *hostile
		requests int
		reported error // nil if no error is reported
	}{
		"the same token for ever": {&hostile{list: pages("a@1", func(int) string { return "x" })}, 2 * maxFailing, ErrEndless},
		"tokens in a circle":      {&hostile{list: pages("a@1", func(n int) string { return fmt.Sprint(n % 3) })}, 8 * maxFailing, ErrEndless},
		"nothing for a list":      {&hostile{list: fails(nil)}, maxFailing, ErrBadAnswer},
		"an object for a list": {&hostile{list: func(int, metav1.ListOptions) (kruntime.Object, error) {
			return &partialObject{}, nil
		}}, maxFailing, ErrBadAnswer},
		"a list without version or items": {&hostile{streams: true, list: func(int, metav1.ListOptions) (kruntime.Object, error) {
			return &metav1.PartialObjectMetadataList{}, nil
		}}, maxFailing, nil},
		"an error of a megabyte": {&hostile{list: fails(errors.New(long))}, maxFailing, errAny},
		"a list that panics":     {&hostile{list: func(int, metav1.ListOptions) (kruntime.Object, error) { panic(long) }}, maxFailing, ErrPanic},
		"429 for ever":           {&hostile{list: fails(apierrors.NewTooManyRequests("", 0))}, maxFailing, errAny},
		"410 for ever":           {&hostile{list: fails(apierrors.NewResourceExpired(""))}, maxFailing, errAny},
		"410 in every watch":     {&hostile{watch: always(errorEvent(410, metav1.StatusReasonExpired))}, 2 * maxFailing, errAny},
		"429 in every watch":     {&hostile{watch: always(errorEvent(429, metav1.StatusReasonTooManyRequests))}, 2 * maxFailing, errAny},
		"500 in every watch":     {&hostile{watch: always(errorEvent(500, metav1.StatusReasonInternalError))}, 2 * maxFailing, errAny},
		"errors that are none":   {&hostile{watch: always(watch.Event{Type: watch.Error, Object: &partialObject{}})}, 2 * maxFailing, errAny},
		"events of no type":      {&hostile{watch: always(watch.Event{Type: watch.EventType(long)})}, 2 * maxFailing, ErrUnexpected},
		"objects of another type": {&hostile{watch: always(watch.Event{
			Type: watch.Added, Object: &metav1.Status{},
		})}, 2 * maxFailing, ErrUnexpected},
		"junk behind a change": {&hostile{watch: onlyWatch(func(i int) watch.Event {
			if i == 0 {
				return watch.Event{Type: watch.Added, Object: parse("a@2")}
			}
			return watch.Event{Type: watch.Added, Object: &metav1.Status{}}
		})}, 2 * maxFailing, ErrUnexpected},
		"an initial state for ever": {&hostile{streams: true, watch: onlyWatch(func(i int) watch.Event {
			time.Sleep(time.Second)
			return watch.Event{Type: watch.Added, Object: parse(fmt.Sprintf("a%d@%d", i, i+2))}
		})}, maxFailing, errStreamEnded},
		"an initial state of junk": {&hostile{streams: true, watch: func(_ int, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents == nil {
				return sends(nil), nil
			}
			return sends(func(int) watch.Event { return watch.Event{Type: "junk"} }), nil
		}}, maxFailing, nil},
		"bookmarks that go back": {&hostile{list: func(n int, _ metav1.ListOptions) (kruntime.Object, error) {
			return list([]string{fmt.Sprint(100_000 - n)}), nil
		}, watch: onlyWatch(func(i int) watch.Event {
			if i > 0 {
				return watch.Event{Type: silent}
			}
			return watch.Event{Type: watch.Bookmark, Object: parse("a@10")}
		})}, 4 * maxFailing, nil},
		"watches that end, now and then at once": {&hostile{watch: func(n int, _ metav1.ListOptions) (watch.Interface, error) {
			return sends(func(i int) watch.Event {
				switch {
				case i == 0:
					return watch.Event{Type: watch.Modified, Object: parse(fmt.Sprintf("a@%d", n+2))}
				case n%2 == 0:
					time.Sleep(time.Second)
				}
				return watch.Event{}
			}), nil
		}}, maxWatches, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				recorded := &observed{}
				runFor(t, time.Hour, test.source.source(), ignorer{}, Options{Observe: recorded.observe, Rand: func() float64 { return 0 }})
				time.Sleep(time.Minute) // until the last watch has noticed its end
				t.Logf("%d lists, %d watches, %d failures, %d skipped", test.source.lists, test.source.watches, recorded.failures, recorded.skipped)
				require.LessOrEqual(t, test.source.lists+test.source.watches, test.requests)
				require.LessOrEqual(t, recorded.longest, maxOversize)
				if test.reported != nil {
					require.ErrorIs(t, recorded, test.reported)
				}
			})
		})
	}
}

// errAny stands for any error of a source.
var errAny = errors.New("any")

// observed counts what a reflector reports.
type observed struct {
	failures, skipped, longest int
	errs                       []error
}

func (f *observed) Error() string { return fmt.Sprint(len(f.errs), " errors") }

func (f *observed) Is(target error) bool {
	for _, err := range f.errs {
		if target == errAny || errors.Is(err, target) {
			return true
		}
	}
	return false
}

func (f *observed) observe(e Event) {
	switch e := e.(type) {
	case Failed:
		f.failures++
		f.note(e.Err)
	case Skipped:
		f.skipped++
		f.longest = max(f.longest, len(e.Err.Error()))
	case StreamRefused:
		f.longest = max(f.longest, len(e.Reason))
	case WatchEnded:
		f.longest = max(f.longest, len(e.Reason))
	}
}

func (f *observed) note(err error) {
	f.errs = append(f.errs, err)
	f.longest = max(f.longest, len(err.Error()))
}

// ignorer is a sink that takes everything and keeps nothing.
type ignorer struct{}

func (ignorer) Begin(context.Context, History) error           { return nil }
func (ignorer) Write(context.Context, []deltafifo.Delta) error { return nil }
func (ignorer) Commit(context.Context, string) error           { return nil }
func (ignorer) Abort(context.Context) error                    { return nil }

// A change is written at once, however many invalid events follow it.
func TestJunkDelaysNoChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &hostile{watch: onlyWatch(func(i int) watch.Event {
			if i == 0 {
				return watch.Event{Type: watch.Added, Object: parse("a@2")}
			}
			return watch.Event{Type: watch.Added, Object: &metav1.Status{}}
		})}
		sink := &collector{}
		runFor(t, time.Millisecond, src.source(), sink, Options{})
		require.NotEmpty(t, sink.batches)
		require.Equal(t, "a", sink.batches[0][0].Key.Name)
	})
}

// A request that waits, since there were too many before it, is reported when it is sent. A back-off would seem to be
// its end.
func TestARequestIsReportedWhenItIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "options for=2m\nlist: page 5\n"+strings.Repeat("watch: open | modified a@6 | closes\n", 60))
		var events []Event
		r.options.Observe = func(e Event) { events = append(events, e) }
		r.run(t)
		twice := false
		for i, e := range events[1:] {
			_, waits := e.(BackedOff)
			_, waited := events[i].(BackedOff)
			_, asked := events[i].(Asked)
			require.False(t, asked && waits, "%d: %+v", i, e)
			twice = twice || waited && waits
		}
		require.True(t, twice, "no request has waited because of others")
	})
}

// Of a program that may neither stream nor list, both refusals are reported, the list's as the error.
func TestAStreamThatIsNotAllowed(t *testing.T) {
	for _, err := range []error{apierrors.NewForbidden(podGVR.GroupResource(), "", nil), apierrors.NewUnauthorized("")} {
		synctest.Test(t, func(t *testing.T) {
			src := &hostile{streams: true, list: fails(err), watch: func(int, metav1.ListOptions) (watch.Interface, error) { return nil, err }}
			var recorded []Event
			runFor(t, time.Second, src.source(), ignorer{}, Options{Observe: func(e Event) {
				switch e.(type) {
				case StreamRefused, Failed:
					recorded = append(recorded, e)
				}
			}})
			require.Equal(t, ClassOf(err), recorded[0].(StreamRefused).Class)
			require.Equal(t, OpList, recorded[1].(Failed).Operation)
		})
	}
}

// A Retry-After of 68 years is shortened.
func TestRetryAfterAYear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &hostile{list: fails(apierrors.NewTooManyRequests("busy", math.MaxInt32))}
		recorded := &observed{}
		runFor(t, time.Hour-time.Minute, src.source(), ignorer{}, Options{Observe: recorded.observe})
		require.Equal(t, int(time.Hour/maxRetryAfter), src.lists)
		require.Equal(t, src.lists, recorded.failures)
	})
}

// If a server rejects the version it has sent itself, the reflector requests the state without it.
func TestVersionsThatNoServerTakes(t *testing.T) {
	for name, version := range map[string]string{
		"negative": "-5", "not a number": "abc", "too large": "18446744073709551616", "megabytes": long,
	} {
		for code, reason := range map[int]metav1.StatusReason{
			http.StatusBadRequest: metav1.StatusReasonBadRequest, http.StatusUnprocessableEntity: metav1.StatusReasonInvalid,
			http.StatusRequestURITooLong: metav1.StatusReasonUnknown, http.StatusRequestHeaderFieldsTooLarge: metav1.StatusReasonUnknown,
		} {
			t.Run(fmt.Sprint(name, " ", code), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					refused := apierrors.NewGenericServerResponse(code, "list", schema.GroupResource{}, "", "", 0, true)
					refused.ErrStatus.Reason = reason
					src := &hostile{}
					src.list = func(n int, o metav1.ListOptions) (kruntime.Object, error) {
						switch {
						case n == 0:
							return list([]string{version}), nil
						case o.ResourceVersion == version:
							return nil, refused
						}
						return list([]string{"7"}), nil
					}
					src.watch = func(_ int, o metav1.ListOptions) (watch.Interface, error) {
						if o.ResourceVersion == version {
							return nil, refused
						}
						return sends(nil), nil
					}
					recorded := &observed{}
					r := runFor(t, time.Minute, src.source(), ignorer{}, Options{Observe: recorded.observe})
					require.Equal(t, "7", r.Version())
					require.NotZero(t, recorded.failures)
					require.LessOrEqual(t, recorded.longest, maxOversize)
				})
			})
		}
	}
}
