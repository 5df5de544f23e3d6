package wire

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/tidemark-k8s/tidemark/internal/verify"
)

func TestMain(m *testing.M) {
	verify.On = true
	goleak.VerifyTestMain(m)
}
