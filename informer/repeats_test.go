package informer

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/limits"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// The number of remembered objects is bounded, and errors of requests are reported every time.
func TestRepeatsAreForgotten(t *testing.T) {
	var r repeats
	now := time.Now()
	for n := range 10 * limits.MostCauses {
		err := &QuarantineError{Key: indexer.Key{Name: fmt.Sprint(n)}, Err: ErrTransform}
		_, ok := r.next(err, err, now)
		require.True(t, ok)
	}
	err := errors.New("refused")
	for range 3 {
		_, ok := r.next(reflector.Failed{Err: err}, err, now)
		require.True(t, ok)
	}
}
