package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// sourceFunc is a source that answers every request alike: with an error, or with no pods and a
// silent watch. It does not stream.
type sourceFunc func(ctx context.Context) error

func (f sourceFunc) Streaming() reflector.Streaming { return reflector.StreamingUnsupported }

func (f sourceFunc) List(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}, f(ctx)
}

func (f sourceFunc) Watch(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
	w := watch.NewFake()
	context.AfterFunc(ctx, w.Stop)
	return w, f(ctx)
}

var errRefused = &net.OpError{Op: "dial", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 6443}, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}

// giveUp runs an informer in a bubble until its monitor gives up. It returns the time until then,
// and the reason.
func giveUp(t *testing.T, source sourceFunc) (after time.Duration, why string) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		notes := newTranscript()
		m := newMonitor(&cluster{server: "https://10.0.0.1:6443", origin: "the file"}, options{}, log.New(notes, "", 0), progressOn(notes), stop)
		defer m.close()
		pods := informer.New[*corev1.Pod](source, informer.Options[*corev1.Pod]{Name: "pods", Observe: m.observe})
		began := time.Now()
		require.NoError(t, pods.Run(ctx))
		after, why = time.Since(began), m.reason().Error()
		assert.Empty(t, notes.String(), "before the first sync, only the end is told")
	})
	return after, why
}

func TestGivingUp(t *testing.T) {
	t.Run("at once where it cannot get better", func(t *testing.T) {
		after, why := giveUp(t, func(context.Context) error { return apierrors.NewUnauthorized("no") })
		assert.Zero(t, after)
		assert.Contains(t, why, "https://10.0.0.1:6443 does not accept the credentials (no): log in again")
	})
	t.Run("after some attempts where it may", func(t *testing.T) {
		after, why := giveUp(t, func(context.Context) error { return errRefused })
		assert.Greater(t, after, patience/4)
		assert.LessOrEqual(t, after, patience)
		assert.Contains(t, why, "nothing listens at 10.0.0.1:6443 (connection refused): check that the API server runs, and the server in the file")
	})
	t.Run("after silence", func(t *testing.T) {
		after, why := giveUp(t, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		assert.Equal(t, silence, after.Truncate(time.Second))
		assert.Contains(t, why, "https://10.0.0.1:6443 does not answer (no response for 1m30s): ")
	})
}

// fed runs a monitor in a bubble; the test feeds it events.
func fed(t *testing.T, f func(m *monitor, told func() string)) {
	synctest.Test(t, func(t *testing.T) {
		out := newTranscript()
		stop := func() { assert.Fail(t, "it gave up") }
		m := newMonitor(&cluster{server: "https://10.0.0.1:6443"}, options{}, log.New(out, "", 0), progressOn(out), stop)
		defer m.close()
		m.observe(reflector.Listed{})
		m.observe(reflector.WatchStarted{})
		seen := 0
		f(m, func() string {
			text := out.String()
			defer func() { seen = len(text) }()
			return strings.TrimSuffix(text[seen:], "\n")
		})
	})
}

func pass(d time.Duration) { <-time.After(d) }

func TestAfterTheSyncItNeverGivesUp(t *testing.T) {
	const lost = "nothing listens at 10.0.0.1:6443 (connection refused); retrying, and keeping the known pods"
	refused := reflector.Failed{Operation: reflector.OpWatch, Err: fmt.Errorf("watch pods: %w", errRefused)}
	again := reflector.BackedOff{Delay: time.Minute}

	fed(t, func(m *monitor, told func() string) {
		pass(time.Hour)
		assert.Empty(t, told())
		m.observe(refused)
		assert.Equal(t, lost, told(), "the first failure")
		for range 4 {
			m.observe(again)
			pass(20 * time.Second)
			m.observe(refused)
		}
		assert.Equal(t, lost, told(), "once a minute")
		m.observe(reflector.WatchStarted{})
		assert.Equal(t, "reconnected after 1m20s", told())
		assert.Contains(t, m.trouble(), "nothing listens at")

		m.observe(reflector.WatchEnded{})
		m.observe(reflector.WatchStarted{})
		assert.Empty(t, told(), "a watch whose time is up")

		m.observe(reflector.Failed{Operation: reflector.OpWatch, Err: apierrors.NewUnauthorized("no")})
		assert.Contains(t, told(), "does not accept the credentials (no); retrying")
	})
}

func TestWhatElseIsTold(t *testing.T) {
	fed(t, func(m *monitor, told func() string) {
		m.observe(reflector.Failed{Operation: reflector.OpWatch, Err: apierrors.NewResourceExpired("too old")})
		assert.Contains(t, told(), "listing all pods again")
		m.observe(reflector.WatchStarted{})
		assert.Empty(t, told(), "that was no outage")

		m.observe(reflector.HistoryWentBack{From: "9", To: "3"})
		assert.Contains(t, told(), "from resourceVersion 9 to 3")
		m.observe(reflector.Skipped{Err: errors.New("not\na pod")})
		assert.Equal(t, "left out: not a pod", told())
	})
}
