package sim_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

var errHealed = errors.New("the connection was reset")

// failures are the errors of failing requests.
var failures = []error{
	fmt.Errorf("dial: %w", syscall.ECONNREFUSED),
	apierrors.NewTooManyRequests("busy", 1),
	apierrors.NewInternalError(errors.New("broken")),
	apierrors.NewForbidden(pods.GroupResource(), "", errors.New("no")),
	apierrors.NewResourceExpired("too old"),
	tooLarge(),
	fmt.Errorf("reading the body: %w", io.ErrUnexpectedEOF),
}

// refused is the index of the failure of requests to a server that is down.
const refused = 1

// watchErrors are the errors that watches send.
var watchErrors = []*apierrors.StatusError{
	apierrors.NewResourceExpired("too old"),
	apierrors.NewInternalError(errors.New("broken")),
	apierrors.NewTooManyRequests("busy", 1),
	apierrors.NewGenericServerResponse(http.StatusGone, "watch", pods.GroupResource(), "", "gone", 0, false),
	// The error of a client for an undecodable body.
	apierrors.NewGenericServerResponse(http.StatusInternalServerError, "GET", pods.GroupResource(), "", "unable to decode an event from the watch stream", 0, true),
}

func tooLarge() error {
	err := apierrors.NewTimeoutError("not yet", 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	return err
}

// fault is a fault of a single request.
type fault struct {
	op operation // failRequests, hangRequest, delayRequests; silentWatch, endWatchEarly and vanishingWatch for watches; noVersion for lists and streams
	n  int
}

// appliesTo reports whether the fault applies to a watch, a stream, the first page of a list, or a later
// page.
func (f fault) appliesTo(isWatch, isStream, first bool) bool {
	switch f.op {
	case silentWatch, endWatchEarly, vanishingWatch:
		return isWatch
	case noVersion:
		return (!isWatch || isStream) && first == (f.n == 1)
	}
	return true
}

// source is between the server and the informer. It injects the faults that the driver has chosen.
type source struct {
	w         *world
	number    int
	namespace string
	selector  string // a label selector

	marked atomic.Bool // a bookmark was sent since the informer began

	mu       sync.Mutex // guards the rest
	inner    reflector.Source
	faults   []fault // of the next requests
	streams  []*stream
	healing  chan struct{}     // closed and replaced when the faults end
	down     bool              // the server is down
	lossy    bool              // bookmarks are lost
	late     time.Duration     // the delay of events
	doubles  int               // the number of events to send twice
	listing  map[key]types.UID // the objects on the pages of the running list
	listed   map[key]types.UID // the objects of the last list; nil after a stream
	listedAt time.Time         // when the last list was complete
	full     int               // complete lists and streams
	failed   int               // lists and watches answered with an error
	broken   int               // streams that failed before the end of their initial state
	requests []time.Time       // the times of requests
	attempts []*attempt        // lists, streams and watches
	causes   []time.Time       // when the driver gave reasons for requests
}

func newSource(w *world, part int) *source {
	s := &source{w: w, number: part, healing: make(chan struct{})}
	if w.namespaces > 1 {
		s.namespace = namespaceOf(part)
	}
	if w.zones > 0 {
		s.selector = zoneOf(part)
	}
	return s
}

// of returns the source for an informer.
func (s *source) of() reflector.Source {
	return reflector.Source{List: s.List, Watch: s.Watch, Streams: s.w.streaming}
}

// serve connects the source to a server.
func (s *source) serve(server *informertest.Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inner = server.Source(pods, s.namespace)
}

// heal ends all faults except silent streams, which the informer has to notice.
func (s *source) heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults, s.lossy, s.late, s.doubles = nil, false, 0, 0
	close(s.healing)
	s.healing = make(chan struct{})
}

// queueFaults adds faults for the next requests.
func (s *source) queueFaults(faults ...fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// degrade makes all streams, including open ones, lossy, late or repeating.
func (s *source) degrade(by step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch by.op {
	case loseBookmarks:
		s.lossy = true
	case lateEvents:
		// Never at the same moment as a step.
		s.late = time.Duration(by.n)*100*time.Millisecond + 37001*time.Microsecond
	case duplicateEvents:
		s.doubles += by.n
	}
}

// open returns the open streams.
func (s *source) open() []*stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams = slices.DeleteFunc(s.streams, (*stream).over)
	return slices.Clone(s.streams)
}

// receiveRequest records a request, and takes its fault. A watch belongs to the last attempt.
func (s *source) receiveRequest(isWatch, isStream, first bool) (f fault, inner reflector.Source, healed chan struct{}, counted *attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first {
		for range 1 + s.w.mutant.extraRequests {
			s.requests = append(s.requests, time.Now())
			counted = &attempt{run: s.w.began, at: time.Now()}
			s.attempts = append(s.attempts, counted)
		}
	}
	if s.down {
		return fault{failRequests, refused}, s.inner, s.healing, counted
	}
	for i, next := range s.faults {
		if next.appliesTo(isWatch, isStream, first) {
			f = next
			s.faults = slices.Delete(s.faults, i, i+1)
			break
		}
	}
	return f, s.inner, s.healing, counted
}

// offset returns the source's delay. Two sources never act at the same moment, because then the
// scheduler would decide their order.
func (s *source) offset() time.Duration {
	if s.w.script {
		return 0 // the steps of transcripts are small
	}
	return []time.Duration{0, 137_003, 211_007}[s.number]
}

// applyFault applies a fault to a request.
func (s *source) applyFault(ctx context.Context, f fault, healed chan struct{}) error {
	if f.op != "" {
		s.w.reach("operation", f.op)
	}
	if d := s.offset(); d > 0 {
		time.Sleep(d)
	}
	switch f.op {
	case failRequests:
		n := (f.n - 1) % len(failures)
		s.w.reach("failure", n)
		return failures[n]
	case hangRequest:
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-healed:
			return errHealed
		}
	case delayRequests:
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(f.n)*time.Second + 41_003*time.Microsecond): // never at the moment of a step
		}
	}
	return s.served()
}

// recordFullState records a complete list.
func (s *source) recordFullState() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed, s.listing, s.listedAt = s.listing, nil, time.Now()
	if !s.w.mutant.hidesFullStates {
		s.full++
	}
}

// recordStreamEnd records a complete streamed list.
func (s *source) recordStreamEnd() {
	s.mu.Lock()
	s.listing = nil
	s.mu.Unlock()
	s.recordFullState()
}

func (s *source) fullStates() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.full
}

// expireWatches sends an expired error to the open streams.
func (s *source) expireWatches() {
	for _, stream := range s.open() {
		s.recordCause()
		stream.sendError(1)
	}
}

// recordError records an error of a request, a watch, or the initial state of a stream. The last one may
// not be an error of the informer, because a list follows at once.
func (s *source) recordError(ofStream bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ofStream {
		s.broken++
	} else {
		s.failed++
	}
}
