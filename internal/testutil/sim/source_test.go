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

// spits are the errors that may come in a watch.
var spits = []*apierrors.StatusError{
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
	deed deed // fail, hang, delay; mute and early for watches; bare for lists
	n    int
}

// strikes tells whether it can strike a watch, the first page of a list, or
// another one.
func (f fault) strikes(isWatch, first bool) bool {
	switch f.deed {
	case mute, early:
		return isWatch
	case bare:
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
	healed   chan struct{}     // closed, and made anew, when the faults end
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
	s := &source{w: w, part: part, healed: make(chan struct{})}
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
	close(s.healed)
	s.healed = make(chan struct{})
}

// suffer makes the next requests suffer.
func (s *source) suffer(faults ...fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// spoil makes the streams worse, those that are open too.
func (s *source) spoil(by step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch by.deed {
	case lose:
		s.lossy = true
	case lag:
		// Never at the same moment as a step.
		s.late = time.Duration(by.n)*100*time.Millisecond + 37001*time.Microsecond
	case double:
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

// arrive takes note of a request, and takes its fault.
func (s *source) arrive(isWatch bool, first bool) (f fault, inner *informertest.Source, healed chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first {
		for range 1 + s.w.sabotage.requests {
			s.requests = append(s.requests, time.Now())
		}
	}
	if s.down {
		return fault{fail, refused}, s.inner, s.healed
	}
	for i, next := range s.faults {
		if next.strikes(isWatch, first) {
			f = next
			s.faults = slices.Delete(s.faults, i, i+1)
			break
		}
	}
	return f, s.inner, s.healed
}

// apart is how much later than it could this source says everything, so that no two
// say anything at the same moment: which is first must not be the scheduler's to decide.
func (s *source) apart() time.Duration {
	if s.w.script {
		return 0 // each step is small
	}
	return []time.Duration{0, 137_003, 211_007}[s.part]
}

// strike lets a fault strike a request.
func (s *source) strike(ctx context.Context, f fault, healed chan struct{}) error {
	if f.deed != "" {
		s.w.reach("deed", f.deed)
	}
	if d := s.apart(); d > 0 {
		time.Sleep(d)
	}
	switch f.deed {
	case fail:
		n := (f.n - 1) % len(failures)
		s.w.reach("failure", n)
		return failures[n]
	case hang:
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-healed:
			return errHealed
		}
	case delay:
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
			s.told()
		}
	}
	if f.deed != "" {
		how += fmt.Sprintf(" (%s %d)", f.deed, f.n)
	}
	s.w.trace.say(fmt.Sprint("requests ", s.part), "%s: %s", request, how)
}

// cause takes note of a reason for requests that is the driver's doing.
func (s *source) cause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.causes = append(s.causes, time.Now())
}

// page takes note of what a page of a list holds.
func (s *source) page(list *corev1.PodList, first bool) {
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

// forgetsList notes that what was listed is gone, perhaps in the same instant.
func (s *source) forgetsList() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = nil
}

// stated takes note of a full state that is told whole.
func (s *source) stated() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed, s.listing, s.listedAt = s.listing, nil, time.Now()
	if !s.w.sabotage.stateless {
		s.full++
	}
}

// streamed is stated for a stream.
func (s *source) streamed() {
	s.mu.Lock()
	s.listing = nil
	s.mu.Unlock()
	s.stated()
}

func (s *source) fullStates() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.full
}

// expires tells open streams that their version is too old.
func (s *source) expires() {
	for _, stream := range s.open() {
		s.cause()
		stream.spit(1)
	}
}

func (s *source) told() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed++
}

// List answers a list, or does not.
func (s *source) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	f, inner, healed := s.arrive(false, o.Continue == "")
	list, err := s.list(ctx, o, f, inner, healed)
	more := ""
	if o.Continue != "" {
		more = ", the next page"
	}
	s.answer(ctx, fmt.Sprintf("list at %q%s", o.ResourceVersion, more), f, err)
	if err != nil {
		return nil, err
	}
	s.page(list, o.Continue == "")
	if list.Continue == "" {
		s.stated()
	}
	return list, nil
}

func (s *source) list(ctx context.Context, o metav1.ListOptions, f fault, inner *informertest.Source, healed chan struct{}) (*corev1.PodList, error) {
	if err := s.strike(ctx, f, healed); err != nil {
		return nil, err
	}
	o.LabelSelector = s.selector
	listed, err := inner.List(ctx, o)
	if err != nil {
		return nil, err
	}
	list := listed.(*corev1.PodList)
	if f.deed == bare && s.suspicious(o) {
		s.told()
		return &corev1.PodList{}, nil
	}
	for i := range list.Items {
		s.lie(&list.Items[i])
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

// lie makes of an object what this source shows of it.
func (s *source) lie(p *pod) {
	if uid := p.Labels["uid"]; uid != "" {
		p.UID = types.UID(p.Namespace + "-" + p.Name + "-" + uid)
	}
	if s.w.blank {
		p.ResourceVersion = "1"
	}
	if s.w.sabotage.serve != nil {
		s.w.sabotage.serve(p)
	}
}

// Watch opens a stream, or does not.
func (s *source) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	f, inner, healed := s.arrive(true, true)
	err := s.strike(ctx, f, healed)
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
