package informer

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// script is a source that a test plays by hand: it answers every list with
// what the test has set, and every watch with events that the test sends.
type script struct {
	mu      sync.Mutex
	pods    []corev1.Pod
	version string
	err     error
	open    *scriptWatch
	lists   int
}

func newScript(version string, pods ...*corev1.Pod) *script {
	s := &script{}
	s.set(version, pods...)
	return s
}

func (s *script) set(version string, pods ...*corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.version, s.pods = version, nil
	for _, p := range pods {
		s.pods = append(s.pods, *p)
	}
}

func (s *script) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.err = err
}

func (*script) Streaming() reflector.Streaming { return reflector.StreamingUnsupported }

func (s *script) List(context.Context, metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.lists++
	if s.err != nil {
		return nil, s.err
	}
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: s.version}}
	for i := range s.pods {
		list.Items = append(list.Items, *s.pods[i].DeepCopy())
	}
	return list, nil
}

func (s *script) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.open = &scriptWatch{events: make(chan watch.Event)}
	return s.open, nil
}

type scriptWatch struct {
	events chan watch.Event
	stop   sync.Once
}

func (w *scriptWatch) ResultChan() <-chan watch.Event { return w.events }
func (w *scriptWatch) Stop()                          { w.stop.Do(func() { close(w.events) }) }

// send plays an event on the watch that is open; the informer has taken it
// when send returns.
func (s *script) send(kind watch.EventType, obj runtime.Object) {
	s.mu.Lock()
	open := s.open
	s.mu.Unlock()
	open.events <- watch.Event{Type: kind, Object: obj}
}

// expire ends the watch with 410, and so makes the informer list again.
func (s *script) expire() {
	s.send(watch.Error, &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410})
}

// pod makes a pod whose UID follows from its name unless a test sets another.
func pod(name, version string, options ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: types.UID("uid-" + name), ResourceVersion: version,
		CreationTimestamp: metav1.Time{Time: time.Unix(1, 0)},
	}}
	for _, option := range options {
		option(p)
	}
	return p
}

// watched tells whether a watch is open.
func (s *script) watched() bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.open != nil
}
