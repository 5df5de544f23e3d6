package reflector

import (
	"testing"

	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime" //nolint:depguard // to silence client-go
	"k8s.io/klog/v2"                                   //nolint:depguard // to silence client-go

	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// TestMain hides the errors that tests cause. It does so before the first test, because a request that a test
// has given up may still read these variables.
func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{})
	utilruntime.ErrorHandlers = nil //nolint:reassign // it is there to be set
	verify.On = true
	goleak.VerifyTestMain(m)
}
