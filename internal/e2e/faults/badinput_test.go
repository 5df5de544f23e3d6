package faults

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	tidecache "github.com/tidemark-k8s/tidemark/informer/cache"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// faultyStart is a scenario in which an informer with the typed API and one with client-go's API start
// while a fault is present.
type faultyStart struct {
	*scenario
	m      *mirror[*corev1.Pod]
	shared cache.SharedIndexInformer

	mu       sync.Mutex
	recorded []error // errors that the watch error handler has received
}

// startWithFault starts an informer with the typed API and one with client-go's API. Their clients use
// config, which leads to the fault.
func (s *scenario) startWithFault(config *rest.Config) *faultyStart {
	s.t.Helper()
	w := &faultyStart{scenario: s, m: s.watchPods(config)}
	client := kubernetes.NewForConfigOrDie(w.m.counting(config))
	lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc:  listPods(client),
		WatchFuncWithContext: client.CoreV1().Pods("").Watch,
	}, client)
	w.shared = tidecache.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{})
	w.start()
	return w
}

// start runs the informer with client-go's API until the end of the test.
func (w *faultyStart) start() {
	w.t.Helper()
	w.must(w.shared.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		w.mu.Lock()
		defer w.mu.Unlock()

		w.recorded = append(w.recorded, err)
	}))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.shared.RunWithContext(ctx)
	}()
	w.t.Cleanup(func() { cancel(); <-ended })
}

func listPods(client kubernetes.Interface) cache.ListWithContextFunc {
	return func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return client.CoreV1().Pods("").List(ctx, o)
	}
}

// requireReports waits until WaitSynced, Status and the error handler report the error. The informers
// retry, so that the error occurs more than once, but not too often.
func (w *faultyStart) requireReports(what string, wanted func(error) bool) {
	t := w.t
	t.Helper()
	err := w.m.failing(wanted)
	ctx, cancel := context.WithTimeout(w.ctx, 10*time.Millisecond)
	defer cancel()
	waited := w.m.informer.WaitSynced(ctx)
	require.ErrorIs(t, waited, informer.ErrNotSynced)
	require.True(t, wanted(waited), "WaitSynced reports %s: %v", what, waited)
	w.awaitErrors(what, wanted)
	w.eventually("the informers retry", func() error {
		if w.m.informer.Status().Errors < 2 {
			return errNone
		}
		return nil
	})
	w.note, _, _ = strings.Cut(err.Error(), "\n")
	w.note = strings.ReplaceAll(w.note, w.cluster.Address(), "HOST")
	if len(w.note) > 160 {
		w.note = w.note[:160] + "…"
	}
}

// awaitErrors waits until the error handler has received the error more than once.
func (w *faultyStart) awaitErrors(what string, wanted func(error) bool) {
	w.t.Helper()
	w.eventually("the error handler gets the error "+what, func() error {
		w.mu.Lock()
		defer w.mu.Unlock()

		n := 0
		for _, one := range w.recorded {
			if wanted(one) {
				n++
			}
		}
		if n < 2 {
			return errNone
		}
		return nil
	})
}

// recovers waits until both informers are synced after the end of the fault.
func (w *faultyStart) recovers() {
	w.t.Helper()
	w.heal()
	w.m.settle()
	w.eventually("the informer with client-go's API has synced", func() error {
		if !w.shared.HasSynced() || len(w.shared.GetStore().ListKeys()) != w.m.informer.Indexer().Len() {
			return errNone
		}
		return nil
	})
	w.budget(60)
}

func saying(texts ...string) func(error) bool {
	return func(err error) bool {
		for _, text := range texts {
			if !strings.Contains(err.Error(), text) {
				return false
			}
		}
		return true
	}
}

func TestBadInput_PointsNowhere(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createPods(20)
	proxy := s.proxy()
	proxy.Refuse()
	w := s.startWithFault(harness.Via(s.cluster.Config(), proxy.Address()))
	w.requireReports("that the connection is refused", utilnet.IsConnectionRefused)
	s.must(proxy.Admit())
	w.recovers()
}

func TestBadInput_ExpiredCredentials(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createPods(20)
	config := s.cluster.Config()
	token := &tokens{}
	token.now.Store("expired")
	right := config.BearerToken
	config.BearerToken = ""
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &tokenTripper{token, next} })
	w := s.startWithFault(config)
	w.requireReports("that the credentials are rejected", apierrors.IsUnauthorized)
	token.now.Store(right)
	w.recovers()
}

type tokens struct{ now atomic.Value }

// tokenTripper sends each request with the current token.
type tokenTripper struct {
	*tokens
	next http.RoundTripper
}

func (t *tokenTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+t.now.Load().(string))
	return t.next.RoundTrip(r)
}

// WrappedRoundTripper allows closing idle connections.
func (t *tokenTripper) WrappedRoundTripper() http.RoundTripper { return t.next }

func TestBadInput_WrongAuthority(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createPods(20)
	impostor := httptest.NewUnstartedServer(http.NotFoundHandler())
	impostor.Config.ErrorLog = quiet
	impostor.StartTLS()
	t.Cleanup(impostor.Close)
	proxy := s.proxy()
	proxy.Target(impostor.Listener.Addr().String())
	w := s.startWithFault(harness.Via(s.cluster.Config(), proxy.Address()))
	w.requireReports("that the certificate's authority is unknown", saying("certificate signed by unknown authority"))
	proxy.Target(s.cluster.Address())
	w.recovers()
}

// behindGateway starts both informers behind a gateway with a fault.
func behindGateway(t *testing.T, f harness.Fault) (*faultyStart, *harness.Gateway) {
	t.Helper()
	s, g, config := brokenGateway(t, f)
	return s.startWithFault(config), g
}

// brokenGateway returns a scenario with a broken gateway, and the configuration to reach it.
func brokenGateway(t *testing.T, f harness.Fault) (*scenario, *harness.Gateway, *rest.Config) {
	t.Helper()
	s := begin(t, harness.Options{})
	s.createPods(20)
	g, err := harness.NewGateway(s.cluster.Config())
	require.NoError(t, err)
	t.Cleanup(g.Close)
	g.Break(f)
	config := g.Config()
	config.ContentConfig = s.cluster.Config().ContentConfig
	return s, g, config
}

func TestBadInput_SpeaksHTML(t *testing.T) {
	w, g := behindGateway(t, harness.Answer("text/html", "<html><body><h1>Please log in</h1></body></html>"))
	w.requireReports("that the answer is HTML", saying("html"))
	g.Break(nil)
	w.recovers()
}

// A gateway passes on lists, and answers watches with a login page.
func TestBadInput_WatchSpeaksHTML(t *testing.T) {
	s, g, config := brokenGateway(t, harness.AnswerWatches("text/html", "<html><body><h1>Please log in</h1></body></html>"))
	m := s.watchPods(config)
	s.note = m.failing(func(err error) bool { return reflector.ClassOf(err) == reflector.ErrorDecode }).Error()
	m.synced() // synced by a list
	g.Break(nil)
	s.heal()
	m.settle()
	s.budget(60)
}

func TestBadInput_AnswersGarbage(t *testing.T) {
	w, g := behindGateway(t, harness.Answer("application/json", "\x00\xff{]garbage"))
	w.requireReports("that the answer cannot be read", func(err error) bool { return err != nil })
	g.Break(nil)
	w.recovers()
}

// An empty JSON object is not a list, although a client decodes it as an empty list. The cache does not
// change. Only an informer that has never received a list with a version treats it as an empty list
// (D26).
func TestBadInput_AnswersNothing(t *testing.T) {
	s, g, config := brokenGateway(t, nil)
	m := s.watchPods(config)
	m.watching()
	forget := harness.AnswerWatches("application/json", `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}`)
	g.Break(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		forget(w, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			harness.Answer("application/json", "{}")(w, r, nil)
		}))
	})
	s.note = m.failing(func(err error) bool { return errors.Is(err, reflector.ErrBadAnswer) }).Error()
	require.Equal(t, 20, m.informer.Indexer().Len())
	g.Break(nil)
	s.heal()
	m.settle()
	s.budget(60)
}

// Each stream of the initial state, which is compressed, breaks off in the middle of an object, so that
// the informer has to list.
func TestBadInput_StreamBreaksInTheMiddleOfAnObject(t *testing.T) {
	s, g, config := brokenGateway(t, harness.TruncateWatches(2000))
	m := s.watchPods(config)
	m.synced() // synced by a list, so that the stream's failure is not an error (D10)
	require.Contains(t, strings.Join(m.informer.Status().Notes, "\n"), "the initial state is listed, not streamed")
	s.touchPods(0, 20, "7")
	_ = m.failing(func(err error) bool { return err != nil }) // the error of a watch
	s.note = m.informer.Status().LastError.Error()
	g.Break(nil)
	s.heal()
	m.settle()
	s.budget(60)
}

// Each watch sends garbage, beginning in the middle of an object.
func TestBadInput_WatchSendsNonsense(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createPods(20)
	g, err := harness.NewGateway(s.cluster.Config())
	require.NoError(t, err)
	t.Cleanup(g.Close)
	config := g.Config()
	config.ContentConfig = s.cluster.Config().ContentConfig
	m := s.watchPods(config)
	m.watching()
	g.Break(harness.GarbleWatches(2000))
	s.touchPods(0, 20, "7")
	_ = m.failing(func(err error) bool { return err != nil })
	s.note = m.informer.Status().LastError.Error()
	g.Break(nil)
	s.heal()
	m.settle()
	s.budget(60)
}

// quiet discards the log of a server that fails on purpose.
var quiet = log.New(io.Discard, "", 0)
