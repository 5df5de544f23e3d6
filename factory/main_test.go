package factory

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // says nothing of what fails on purpose
	verify.On = true              // as make test has it: what informers check of themselves is tested, too
	goleak.VerifyTestMain(m)
}

// bubble runs a test in virtual time. The context ends with the test, and
// whoever started something with it waits for its end.
func bubble(t *testing.T, test func(t *testing.T, ctx context.Context)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer cancel()
		test(t, ctx)
	})
}

// begin starts a factory and waits until everything that was asked for is
// synced and watched.
func begin(t *testing.T, ctx context.Context, f interface{ StartWithContext(context.Context) }) {
	t.Helper()
	f.StartWithContext(ctx)
	synctest.Wait()
}

func newPod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func newNode(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// diary is a handler that writes down what it is told.
type diary[T informer.Object] struct {
	mu      sync.Mutex
	entries []string
}

func (d *diary[T]) Handle(c informer.Change[T]) {
	entry := c.Kind.String() + " "
	if c.Kind == informer.Deleted {
		entry += c.Old.GetName()
	} else {
		entry += c.New.GetName()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, entry)
}

// funcs are client-go's handler that writes the same.
func (d *diary[T]) funcs() cache.ResourceEventHandlerFuncs {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { d.Handle(informer.Change[T]{Kind: informer.Added, New: obj.(T)}) },
	}
}

// read returns the entries since the last read.
func (d *diary[T]) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	entries := d.entries
	d.entries = nil
	return entries
}

// keep is a handler that is there for being there.
var keep = cache.ResourceEventHandlerFuncs{}
