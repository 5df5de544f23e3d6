package reflector

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// The Retry-After of an answer is taken from it once, and known however many Wires it passes through, and however
// large it is.
func TestRetryAfterThroughTwoWires(t *testing.T) {
	for text, want := range map[string]time.Duration{"7": 7 * time.Second, "12000000000": maxRetryAfter, "99999999999999999999999": maxRetryAfter, "-7": 0, "soon": 0, "Wed, 21 Oct 2099 07:28:00 GMT": 0} {
		t.Run(text, func(t *testing.T) { retryAfterThroughTwoWires(t, text, want) })
	}
}

func retryAfterThroughTwoWires(t *testing.T, text string, want time.Duration) {
	t.Helper()
	busy := roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {text}}, Body: http.NoBody}, nil
	})
	ctx, mark := wire.WithMark(t.Context(), true, metav1.ListOptions{}, nil)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1/api/v1/pods", nil)
	require.NoError(t, err)
	answer, err := NewOwnWrites().Wire(Wire(busy)).RoundTrip(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Empty(t, answer.Header.Get("Retry-After"))
	require.Equal(t, want, retryAfter(mark.Wrap(errors.New("busy"))))
}
