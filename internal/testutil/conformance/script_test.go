package conformance_test

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// script is a server that a test plays by hand: it answers lists with what the
// test has set, and watches with what the test sends. It keeps the requests.
type script struct {
	mu      sync.Mutex
	listed  string // the version of the list
	pods    []corev1.Pod
	open    *feed
	lists   []metav1.ListOptions
	watches []metav1.ListOptions
	streams bool // says that it can send its initial state through a watch

	// list and watch answer instead, if set. What they return as nil, without
	// an error, is answered as ever.
	list  func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
}

var _ interface {
	cache.ListerWatcher
	cache.ListerWatcherWithContext
} = (*script)(nil)

func newScript(version string, pods ...*corev1.Pod) *script {
	s := &script{}
	s.set(version, pods...)
	return s
}

// set says what the next list holds.
func (s *script) set(version string, pods ...*corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed, s.pods = version, nil
	for _, p := range pods {
		s.pods = append(s.pods, *p.DeepCopy())
	}
}

// fail makes all lists fail, or none.
func (s *script) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = nil
	if err != nil {
		s.list = func(context.Context, metav1.ListOptions) (runtime.Object, error) { return nil, err }
	}
}

func (s *script) IsWatchListSemanticsUnSupported() bool { return !s.streams }

func (s *script) List(o metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), o)
}

func (s *script) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), o)
}

func (s *script) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	s.lists = append(s.lists, o)
	answer := s.list
	s.mu.Unlock()
	if answer != nil {
		if list, err := answer(ctx, o); list != nil || err != nil {
			return list, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return podList(s.listed, s.pods...), nil
}

func (s *script) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	s.watches = append(s.watches, o)
	answer := s.watch
	s.mu.Unlock()
	if answer != nil {
		if w, err := answer(ctx, o); w != nil || err != nil {
			return w, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = newFeed()
	return s.open, nil
}

// requests returns how many lists and watches there were.
func (s *script) requests() (lists, watches int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.lists), len(s.watches)
}

// asked returns the options of the lists and of the watches.
func (s *script) asked() (lists, watches []metav1.ListOptions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(lists, s.lists...), append(watches, s.watches...)
}

func (s *script) stream() *feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// send sends an event to the watch that was opened last.
func (s *script) send(kind watch.EventType, obj runtime.Object) { s.stream().send(kind, obj) }

// expire ends the watch with 410, which makes an informer list again.
func (s *script) expire() { s.send(watch.Error, expired()) }

func expired() *metav1.Status {
	return &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410, Message: "too old"}
}

// relist expires the watch and waits out the first step of the back-off.
func (s *script) relist() {
	s.expire()
	time.Sleep(5 * time.Second)
}

// feed is a watch whose events a test sends. It takes them though nobody reads.
type feed struct {
	mu     sync.Mutex
	events chan watch.Event
	ended  bool
}

func newFeed() *feed { return &feed{events: make(chan watch.Event, 4096)} }

func (f *feed) ResultChan() <-chan watch.Event { return f.events }

func (f *feed) Stop() { f.end() }

func (f *feed) send(kind watch.EventType, obj runtime.Object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.ended {
		f.events <- watch.Event{Type: kind, Object: obj}
	}
}

// end ends the watch, behind what was sent.
func (f *feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.ended {
		f.ended = true
		close(f.events)
	}
}

// initial sends the initial state of a stream, and its end.
func (f *feed) initial(version string, pods ...*corev1.Pod) {
	for _, p := range pods {
		f.send(watch.Added, p)
	}
	f.send(watch.Bookmark, bookmark(version, "true"))
}

// bookmark makes a bookmark; end is what its annotation says about the end of
// the initial state, "" for nothing.
func bookmark(version, end string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
	if end != "" {
		p.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: end}
	}
	return p
}

func podList(version string, pods ...corev1.Pod) *corev1.PodList {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: version}}
	for i := range pods {
		list.Items = append(list.Items, *pods[i].DeepCopy())
	}
	return list
}

// pod makes a pod whose UID follows from its name unless a test sets another.
func pod(name, version string, options ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: types.UID("uid-" + name), ResourceVersion: version,
	}}
	for _, option := range options {
		option(p)
	}
	return p
}

func label(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels = map[string]string{key: value} }
}

func uid(uid string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.UID = types.UID(uid) } }

func tooLarge() *apierrors.StatusError {
	err := apierrors.NewTimeoutError("Too large resource version", 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
	return err
}
