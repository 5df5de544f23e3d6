package factory

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// WriterCase is the environment variable of a process of TestContract_T15_WritesIntoCachedObjects.
const WriterCase = "TIDEMARK_TEST_WRITER"

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // discards the errors that tests cause on purpose
	verify.On = true              // as in make test: informers check themselves
	if os.Getenv(WriterCase) == "" {
		kit.AllowWrites()
	}
	goleak.VerifyTestMain(m)
}

// bubble runs a test in virtual time. The context ends with the test; a test that starts
// something with it waits for its end.
func bubble(t *testing.T, test func(t *testing.T, ctx context.Context)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer cancel()
		test(t, ctx)
	})
}

// begin starts a factory and waits until every requested informer is synced and watches.
func begin(t *testing.T, ctx context.Context, f interface{ StartWithContext(context.Context) }) {
	t.Helper()
	f.StartWithContext(ctx)
	synctest.Wait()
}

// reportedErrors replaces utilruntime's handlers until the end of the test, and returns a function that returns the
// errors they would have got.
func reportedErrors(t *testing.T) (reported func() []error) {
	t.Helper()
	var mu sync.Mutex
	var all []error
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(_ context.Context, err error, _ string, _ ...any) { //nolint:reassign // it is there to be set
		mu.Lock()
		defer mu.Unlock()
		all = append(all, err)
	}}
	t.Cleanup(func() { utilruntime.ErrorHandlers = handlers }) //nolint:reassign // as above
	return func() []error {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

func newPod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func newNode(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// recorder is a handler that records its events.
type recorder[T informer.Object] struct {
	mu      sync.Mutex
	entries []string
}

func (d *recorder[T]) Handle(c informer.Change[T]) {
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

// funcs returns client-go's form of the same handler.
func (d *recorder[T]) funcs() cache.ResourceEventHandlerFuncs {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { d.Handle(informer.Change[T]{Kind: informer.Added, New: obj.(T)}) },
	}
}

// read returns the entries since the last read.
func (d *recorder[T]) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	entries := d.entries
	d.entries = nil
	return entries
}

// noop is a handler that does nothing.
var noop = cache.ResourceEventHandlerFuncs{}
