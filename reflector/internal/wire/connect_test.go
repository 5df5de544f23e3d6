package wire

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Only a broken connection is asked again at once: the reflector hears of every answer.
func TestAskedAgainWithoutAWord(t *testing.T) {
	answer := func(code, seconds int) error {
		return apierrors.NewGenericServerResponse(code, "list", schema.GroupResource{Resource: "pods"}, "", "", seconds, true)
	}
	for name, row := range map[string]struct {
		err   error
		calls int
	}{
		"an answer":           {nil, 1},
		"a broken connection": {io.ErrUnexpectedEOF, connectAttempts},
		"unavailable":         {answer(http.StatusServiceUnavailable, 3), 1},
		"too busy":            {answer(http.StatusTooManyRequests, 3), 1},
		"forbidden":           {answer(http.StatusForbidden, 3), 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			_, err := persistently(t.Context(), false, func() (io.ReadCloser, error) {
				calls++
				return nil, row.err
			})
			require.Equal(t, row.err, err, name)
			require.Equal(t, row.calls, calls, name)
		})
	}
}

// A request is sent again if the connection broke before the answer.
func TestPersistently(t *testing.T) {
	calls := 0
	body, err := persistently(t.Context(), false, func() (io.ReadCloser, error) {
		if calls++; calls < 2 {
			return nil, io.EOF
		}
		return http.NoBody, nil
	})
	require.NoError(t, err)
	require.Equal(t, http.NoBody, body)
	require.Equal(t, 2, calls)
	refused := errors.New("refused")
	_, err = persistently(t.Context(), false, func() (io.ReadCloser, error) { return nil, refused })
	require.ErrorIs(t, err, refused)
}

// A watch ends regularly in the same cases as in client-go.
func TestEndOfWatch(t *testing.T) {
	broken := &json.SyntaxError{}
	require.NoError(t, watchError(io.EOF))
	require.NoError(t, watchError(io.ErrUnexpectedEOF))
	require.NoError(t, watchError(errors.New("http2: server sent GOAWAY and closed the connection")))
	require.ErrorIs(t, watchError(broken), broken)
}

// Reflectors that shared a broken connection repeat their requests at different times.
func TestBrokenConnectionsAreAskedAgainAtDifferentTimes(t *testing.T) {
	for name, broken := range map[string]error{
		"broken": io.ErrUnexpectedEOF,
		"reset":  syscall.ECONNRESET,
	} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var at []time.Duration
			start := time.Now()
			var group sync.WaitGroup
			for range 100 {
				group.Go(func() {
					_, _ = persistently(t.Context(), true, func() (io.ReadCloser, error) {
						if time.Since(start) == 0 {
							return nil, broken
						}
						mu.Lock()
						defer mu.Unlock()
						at = append(at, time.Since(start))
						return nil, nil
					})
				})
			}
			group.Wait()
			require.Len(t, at, 100)
			tenths := map[time.Duration]int{}
			for _, since := range at {
				tenths[since/(100*time.Millisecond)]++
			}
			for tenth, n := range tenths {
				require.Less(t, n, 40, "%s: within the tenth %d", name, tenth)
			}
			require.GreaterOrEqual(t, slices.Min(at), time.Second)
		})
	}
}
