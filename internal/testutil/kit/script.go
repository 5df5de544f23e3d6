package kit

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Script is an API server that a test controls. The test sets the answer to lists, and sends the events
// of watches. The script records the requests. It implements client-go's ListerWatcher.
type Script struct {
	// Streams says that the script can send its initial state through a watch.
	Streams bool
	// If set, OnList and OnWatch answer requests. If they return nil without an error, the script
	// answers. A test sets them before the first request.
	OnList  func(context.Context, metav1.ListOptions) (runtime.Object, error)
	OnWatch func(context.Context, metav1.ListOptions) (watch.Interface, error)

	mu      sync.Mutex
	version string
	pods    []corev1.Pod
	err     error // the answer to lists if not nil
	open    *Feed
	lists   []metav1.ListOptions
	watches []metav1.ListOptions
}

var _ interface {
	cache.ListerWatcher
	cache.ListerWatcherWithContext
} = (*Script)(nil)

// NewScript returns a script that lists these pods.
func NewScript(version string, pods ...*corev1.Pod) *Script {
	s := &Script{}
	s.Set(version, pods...)
	return s
}

// Set changes the answer to lists.
func (s *Script) Set(version string, pods ...*corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version, s.pods = version, nil
	for _, p := range pods {
		s.pods = append(s.pods, *p.DeepCopy())
	}
}

// Listed returns the answer to lists.
func (s *Script) Listed() *corev1.PodList {
	s.mu.Lock()
	defer s.mu.Unlock()
	return PodList(s.version, s.pods...)
}

// Fail makes all lists fail. After Fail(nil), they succeed.
func (s *Script) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *Script) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// IsWatchListSemanticsUnSupported tells client-go whether the script cannot stream.
func (s *Script) IsWatchListSemanticsUnSupported() bool { return !s.Streams }

// List is [Script.ListWithContext] without a context.
func (s *Script) List(o metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), o)
}

// Watch is [Script.WatchWithContext] without a context.
func (s *Script) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), o)
}

// ListWithContext answers a list.
func (s *Script) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	s.lists = append(s.lists, o)
	s.mu.Unlock()
	if s.OnList != nil {
		if list, err := s.OnList(ctx, o); list != nil || err != nil {
			return list, err
		}
	}
	if err := s.failure(); err != nil {
		return nil, err
	}
	return s.Listed(), nil
}

// WatchWithContext answers a watch with a new [Feed].
func (s *Script) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	s.watches = append(s.watches, o)
	s.mu.Unlock()
	if s.OnWatch != nil {
		if w, err := s.OnWatch(ctx, o); w != nil || err != nil {
			return w, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = NewFeed()
	return s.open, nil
}

// Requests returns the number of lists and watches.
func (s *Script) Requests() (lists, watches int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.lists), len(s.watches)
}

// Asked returns the options of all lists and watches.
func (s *Script) Asked() (lists, watches []metav1.ListOptions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(lists, s.lists...), append(watches, s.watches...)
}

// Feed returns the newest watch, or nil.
func (s *Script) Feed() *Feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Send sends an event to the newest watch.
func (s *Script) Send(kind watch.EventType, obj runtime.Object) { s.Feed().Send(kind, obj) }

// Expire ends the watch with 410, so that its reader lists again.
func (s *Script) Expire() { s.Send(watch.Error, Expired()) }

// Feed is a watch whose events a test sends. It buffers 4,096 events.
type Feed struct {
	mu     sync.Mutex
	events chan watch.Event
	ended  bool
}

// NewFeed returns an open watch.
func NewFeed() *Feed { return &Feed{events: make(chan watch.Event, 4096)} }

// ResultChan returns the events.
func (f *Feed) ResultChan() <-chan watch.Event { return f.events }

// Stop ends the watch for its reader.
func (f *Feed) Stop() { f.End() }

// Send sends an event, unless the watch has ended.
func (f *Feed) Send(kind watch.EventType, obj runtime.Object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.ended {
		f.events <- watch.Event{Type: kind, Object: obj}
	}
}

// End ends the watch after the events sent so far.
func (f *Feed) End() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.ended {
		f.ended = true
		close(f.events)
	}
}

// Initial sends the initial state of a stream, and its end.
func (f *Feed) Initial(version string, pods ...*corev1.Pod) {
	for _, p := range pods {
		f.Send(watch.Added, p)
	}
	f.Send(watch.Bookmark, Bookmark(version, "true"))
}
