package reflector

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// reconnectingReflectors is a server that many reflectors lose at once, and its behaviour afterwards.
type reconnectingReflectors struct {
	down func() error

	mu      sync.Mutex
	lost    time.Time // zero while the server is there
	watches []*watch.FakeWatcher
	back    []time.Duration // when somebody came back, since it was lost
}

func (c *reconnectingReflectors) source() Source {
	return Source{List: c.List, Watch: c.Watch, Streams: StreamingUnsupported}
}

func (c *reconnectingReflectors) List(context.Context, metav1.ListOptions) (runtime.Object, error) {
	return list([]string{"5", "a@3"}), nil
}

func (c *reconnectingReflectors) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.lost.IsZero() {
		if since := time.Since(c.lost); since > 0 {
			c.back = append(c.back, since)
		}
		return nil, c.down()
	}
	w := watch.NewFake()
	c.watches = append(c.watches, w)
	return w, nil
}

func (c *reconnectingReflectors) lose() {
	c.mu.Lock()
	c.lost = time.Now()
	watches := c.watches
	c.mu.Unlock()
	for _, w := range watches {
		w.Stop()
	}
}

// most returns the largest number of requests within a tenth of a second.
func most(at []time.Duration) (n int) {
	slices.Sort(at)
	for i := range at {
		j := i
		for j < len(at) && at[j]-at[i] < 100*time.Millisecond {
			j++
		}
		n = max(n, j-i)
	}
	return n
}

// Many reflectors that lose a server at once come back at different times, however the server ended,
// and whatever its Retry-After.
func TestReflectorsComeBackAtDifferentTimes(t *testing.T) {
	const many = 100
	for name, down := range map[string]func() error{
		"refused":          func() error { return &url.Error{Op: "Get", URL: "https://server", Err: syscall.ECONNREFUSED} },
		"broken":           func() error { return &url.Error{Op: "Get", URL: "https://server", Err: io.ErrUnexpectedEOF} },
		"reset":            func() error { return &url.Error{Op: "Get", URL: "https://server", Err: syscall.ECONNRESET} },
		"busy":             func() error { return apierrors.NewTooManyRequests("busy", 0) },
		"busy for a while": func() error { return apierrors.NewTooManyRequests("busy", 5) },
		"in trouble for a while": func() error {
			return &wire.DelayedError{Err: apierrors.NewGenericServerResponse(http.StatusServiceUnavailable, "list", schema.GroupResource{}, "", "", 5, true), After: 5 * time.Second}
		},
		"in trouble": func() error { return apierrors.NewInternalError(errors.New("trouble")) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &reconnectingReflectors{down: down}
				ctx, cancel := context.WithCancel(t.Context())
				var group sync.WaitGroup
				for range many {
					group.Go(func() { _ = New(server.source(), &rig{}, ofType[*partialObject](Options{})).Run(ctx) })
				}
				time.Sleep(10 * time.Second)
				server.lose()
				if name == "in trouble" { // a list follows, which brings them back
					time.Sleep(2 * time.Second)
				} else {
					time.Sleep(7 * time.Second)
				}
				server.mu.Lock()
				first := slices.Clone(server.back[:many])
				server.mu.Unlock()
				require.Less(t, most(first), many/3)
				cancel()
				group.Wait()
			})
		})
	}
}
