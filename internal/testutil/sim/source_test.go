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

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

var errHealed = errors.New("the connection was reset")

// failures are the errors that a request may fail with.
var failures = []error{
	fmt.Errorf("dial: %w", syscall.ECONNREFUSED),
	apierrors.NewTooManyRequests("busy", 1),
	apierrors.NewInternalError(errors.New("broken")),
	apierrors.NewForbidden(pods.GroupResource(), "", errors.New("no")),
	apierrors.NewResourceExpired("too old"),
	tooLarge(),
	fmt.Errorf("reading the body: %w", io.ErrUnexpectedEOF),
}

// refused is the failure of requests to a server that is not there.
const refused = 1

// watchErrors are the errors that may come in a watch.
var watchErrors = []*apierrors.StatusError{
	apierrors.NewResourceExpired("too old"),
	apierrors.NewInternalError(errors.New("broken")),
	apierrors.NewTooManyRequests("busy", 1),
	apierrors.NewGenericServerResponse(http.StatusGone, "watch", pods.GroupResource(), "", "gone", 0, false),
	// What a client makes of a body that is not what it should be.
	apierrors.NewGenericServerResponse(http.StatusInternalServerError, "GET", pods.GroupResource(), "", "unable to decode an event from the watch stream", 0, true),
}

func tooLarge() error {
	err := apierrors.NewTimeoutError("not yet", 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	return err
}

// fault is what becomes of one request.
type fault struct {
	op operation // fail, hang, delay; mute and early for watches; bare for lists
	n  int
}

// appliesTo tells whether it can strike a watch, the first page of a list, or
// another one.
func (f fault) appliesTo(isWatch, first bool) bool {
	switch f.op {
	case silentWatch, endWatchEarly:
		return isWatch
	case noVersion:
		return !isWatch && first == (f.n == 1)
	}
	return true
}

// source stands between the server and the informer, and injects the faults
// that the driver has decided on. Requests do not decide anything.
type source struct {
	w         *world
	part      int
	namespace string
	selector  string           // of labels
	asked     reflector.Source // whether the resource is served, nil where it always is

	marked atomic.Bool // a bookmark has come since the informer began

	mu       sync.Mutex // guards the rest
	inner    *informertest.Source
	faults   []fault // of the next requests
	streams  []*stream
	healing  chan struct{}     // closed, and made anew, when the faults end
	down     bool              // nobody is there
	lossy    bool              // bookmarks are lost
	late     time.Duration     // events come so much later
	doubles  int               // events that come twice
	listing  map[key]types.UID // the objects of the pages of a list so far
	listed   map[key]types.UID // those of the last full state, nil where it was a stream
	listedAt time.Time         // when that was told
	full     int               // full states that it has told
	failed   int               // requests and streams that were told an error
	requests []time.Time       // when a list, a stream or a watch was asked for
	causes   []time.Time       // when the driver gave a reason to ask anew
}

var (
	_ reflector.Source   = (*source)(nil)
	_ reflector.Streamer = (*source)(nil)
)

func newSource(w *world, part int) *source {
	s := &source{w: w, part: part, healing: make(chan struct{})}
	if w.parts > 1 {
		s.namespace = namespaceOfPart(part)
	}
	if w.zones > 0 {
		s.selector = zoneOf(part)
	}
	return s
}

func (s *source) Streaming() reflector.Streaming { return s.w.streaming }

// serve makes the source one of this server.
func (s *source) serve(server *informertest.Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inner = server.Source(pods, s.namespace)
}

// heal ends all faults that are not known to the informer yet: streams that
// fell silent stay so.
func (s *source) heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults, s.lossy, s.late, s.doubles = nil, false, 0, 0
	close(s.healing)
	s.healing = make(chan struct{})
}

// queueFaults makes the next requests suffer.
func (s *source) queueFaults(faults ...fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// degrade makes the streams worse, those that are open too.
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

// open returns the streams that are open.
func (s *source) open() []*stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams = slices.DeleteFunc(s.streams, (*stream).over)
	return slices.Clone(s.streams)
}

// receiveRequest takes note of a request, and takes its fault.
func (s *source) receiveRequest(isWatch bool, first bool) (f fault, inner *informertest.Source, healed chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first {
		for range 1 + s.w.mutant.extraRequests {
			s.requests = append(s.requests, time.Now())
		}
	}
	if s.down {
		return fault{failRequests, refused}, s.inner, s.healing
	}
	for i, next := range s.faults {
		if next.appliesTo(isWatch, first) {
			f = next
			s.faults = slices.Delete(s.faults, i, i+1)
			break
		}
	}
	return f, s.inner, s.healing
}

// offset is how much later than it could this source says everything, so that no two
// say anything at the same moment: which is first must not be the scheduler's to decide.
func (s *source) offset() time.Duration {
	if s.w.script {
		return 0 // each step is small
	}
	return []time.Duration{0, 137_003, 211_007}[s.part]
}

// applyFault lets a fault strike a request.
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
		case <-time.After(time.Duration(f.n)*time.Second + 41_003*time.Microsecond): // at no step's moment
		}
	}
	return s.served(ctx)
}

// answer traces what became of a request, and counts the errors that the
// informer has been told.
func (s *source) answer(ctx context.Context, request string, f fault, err error) {
	if ctx.Err() != nil {
		return // nobody listens
	}
	how := "ok"
	if err != nil {
		how = err.Error()
		if !apierrors.IsInvalid(err) && !apierrors.IsNotFound(err) { // a server that does not stream is no failure, nor is a resource that is awaited
			s.recordError()
		}
	}
	if f.op != "" {
		how += fmt.Sprintf(" (%s %d)", f.op, f.n)
	}
	s.w.trace.add(fmt.Sprint("requests ", s.part), "%s: %s", request, how)
}

// recordCause takes note of a reason for requests that is the driver's doing.
func (s *source) recordCause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.causes = append(s.causes, time.Now())
}

// recordPage takes note of what a page of a list holds.
func (s *source) recordPage(list *corev1.PodList, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first {
		s.listing = map[key]types.UID{}
	}
	for i := range list.Items {
		s.listing[keyOf(&list.Items[i])] = list.Items[i].UID
	}
}

// holds tells whether a list that was told right now holds an object.
func (s *source) holds(p *pod) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	uid, ok := s.listed[keyOf(p)]
	return ok && s.listedAt.Equal(time.Now()) && (uid == p.UID || p.UID == "")
}

// forgetList notes that what was listed is gone, perhaps in the same instant.
func (s *source) forgetList() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = nil
}

// recordFullState takes note of a full state that is told whole.
func (s *source) recordFullState() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed, s.listing, s.listedAt = s.listing, nil, time.Now()
	if !s.w.mutant.hidesFullStates {
		s.full++
	}
}

// recordStreamEnd is stated for a stream.
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

// expireWatches tells open streams that their version is too old.
func (s *source) expireWatches() {
	for _, stream := range s.open() {
		s.recordCause()
		stream.sendError(1)
	}
}

func (s *source) recordError() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed++
}

// List answers a list, or does not.
func (s *source) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	f, inner, healed := s.receiveRequest(false, o.Continue == "")
	list, err := s.list(ctx, o, f, inner, healed)
	more := ""
	if o.Continue != "" {
		more = ", the next page"
	}
	s.answer(ctx, fmt.Sprintf("list at %q%s", o.ResourceVersion, more), f, err)
	if err != nil {
		return nil, err
	}
	s.recordPage(list, o.Continue == "")
	if list.Continue == "" {
		s.recordFullState()
	}
	return list, nil
}

func (s *source) list(ctx context.Context, o metav1.ListOptions, f fault, inner *informertest.Source, healed chan struct{}) (*corev1.PodList, error) {
	if err := s.applyFault(ctx, f, healed); err != nil {
		return nil, err
	}
	o.LabelSelector = s.selector
	listed, err := inner.List(ctx, o)
	if err != nil {
		return nil, err
	}
	list := listed.(*corev1.PodList)
	if f.op == noVersion && s.suspicious(o) {
		s.recordError()
		return &corev1.PodList{}, nil
	}
	for i := range list.Items {
		s.alter(&list.Items[i])
	}
	if s.w.blank {
		list.ResourceVersion = ""
	}
	return list, nil
}

// suspicious tells whether a list without version and items must be an error: what
// asks knows that this server has versions, or that it decodes what a server says.
func (s *source) suspicious(o metav1.ListOptions) bool {
	return s.w.streaming == reflector.StreamingSupported || o.Continue != "" ||
		o.ResourceVersion != "" && o.ResourceVersion != "0"
}

// alter makes of an object what this source shows of it.
func (s *source) alter(p *pod) {
	if uid := p.Labels["uid"]; uid != "" {
		p.UID = types.UID(p.Namespace + "-" + p.Name + "-" + uid)
	}
	if s.w.blank {
		p.ResourceVersion = "1"
	}
	if s.w.mutant.serve != nil {
		s.w.mutant.serve(p)
	}
}

// Watch opens a stream, or does not.
func (s *source) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	f, inner, healed := s.receiveRequest(true, true)
	err := s.applyFault(ctx, f, healed)
	var w watch.Interface
	if err == nil {
		o.LabelSelector = s.selector
		w, err = inner.Watch(ctx, o)
	}
	kind := "watch"
	if o.SendInitialEvents != nil {
		kind = "stream"
	}
	s.answer(ctx, fmt.Sprintf("%s at %q", kind, o.ResourceVersion), f, err)
	if err != nil {
		return nil, err
	}
	opened := newStream(ctx, s, w, f)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams = append(s.streams, opened)
	return opened, nil
}
