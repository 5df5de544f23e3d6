package cache

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

var errPoison = errors.New("poison")

func pod(name, version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: version}}
}

// script is a source that a test plays by hand: it answers every list with
// what the test has set, and every watch with events that the test sends.
type script struct {
	mu      sync.Mutex
	pods    []corev1.Pod
	version string
	err     error
	open    *watch.FakeWatcher
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

// source is what reads the script.
func (s *script) source() ListerWatcher {
	return ToListWatcherWithWatchListSemantics(&ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: s.watch}, cannotStream{})
}

type cannotStream struct{}

func (cannotStream) IsWatchListSemanticsUnSupported() bool { return true }

func (s *script) list(context.Context, metav1.ListOptions) (runtime.Object, error) {
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

func (s *script) watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.open = watch.NewFake()
	return s.open, nil
}

// send plays an event on the watch that is open; the reader has taken it when
// send returns.
func (s *script) send(kind watch.EventType, obj runtime.Object) {
	s.mu.Lock()
	open := s.open
	s.mu.Unlock()
	open.Action(kind, obj)
}

// expire ends the watch with 410, and so makes the reader list again.
func (s *script) expire() {
	s.send(watch.Error, &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410})
}

// recorder writes down what happens, line by line.
type recorder struct {
	mu    sync.Mutex
	lines []string
}

func (r *recorder) add(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.lines = append(r.lines, line)
}

// take returns the lines that are new once nothing moves.
func (r *recorder) take() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()

	lines := r.lines
	r.lines = nil
	return lines
}

func spoken(obj any) string {
	if p, ok := obj.(*corev1.Pod); ok {
		return p.Name + "@" + p.ResourceVersion
	}
	return fmt.Sprint(obj)
}

// log is one that can be looked at.
type log struct{ recorder }

func (l *log) Write(line []byte) (int, error) {
	l.add(string(line))
	return len(line), nil
}

func (l *log) logger() klog.Logger {
	return textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(l)))
}

// count returns how many lines contain a text.
func (l *log) count(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()

	for _, line := range l.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// captured lets a test see klog's lines. Such tests do not run in parallel.
func captured(t *testing.T) *log {
	l := &log{}
	klog.SetLogger(l.logger())
	t.Cleanup(func() { klog.SetLogger(klog.Logger{}) })
	return l
}

// survive makes panics not end the process, for one test. Such tests do not
// run in parallel.
func survive(t *testing.T) {
	really, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil
	t.Cleanup(func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = really, handlers })
}

// running runs what has a Run for the time of a test.
func running(t *testing.T, run func(ctx context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { run(ctx) })
	stop = func() { cancel(); wg.Wait() }
	t.Cleanup(stop)
	synctest.Wait()
	return stop
}
