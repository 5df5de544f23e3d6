package informer_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // drops all lines: many tests fail on purpose
	if os.Getenv(detectorCase) == "" {
		kit.AllowWrites()
	}
	goleak.VerifyTestMain(m)
}
