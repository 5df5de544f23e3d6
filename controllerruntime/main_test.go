package controllerruntime

import (
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// logged has controller-runtime's lines of all tests: its logger is set once.
var logged kit.Log

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // discards the errors that tests cause on purpose
	ctrl.SetLogger(logged.Logger())
	goleak.VerifyTestMain(m,
		// controller-runtime's own: it waits for ever for namespaces to sync.
		goleak.IgnoreTopFunction("sigs.k8s.io/controller-runtime/pkg/cache.newMultiNamespaceInformer.func1"),
		// client-go's own: a watch of metadata with an event that nobody receives.
		goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop"),
	)
}
