package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A watch stays open when silencer makes it silent.
func TestHush(t *testing.T) {
	var h silencer
	w := httptest.NewRecorder()
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("a"))
		h.on.Store(true)
		n, err := w.Write([]byte("bc"))
		require.NoError(t, err)
		require.Equal(t, 2, n)
	})
	h.fault(w, httptest.NewRequest(http.MethodGet, "/", nil), next)
	require.Equal(t, "a", w.Body.String())
}

func TestSlowSendsAll(t *testing.T) {
	w := httptest.NewRecorder()
	slow(w, httptest.NewRequest(http.MethodGet, "/", nil), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, 1500))
	}))
	require.Equal(t, 1500, w.Body.Len())
}

func TestAWrongStateIsAnError(t *testing.T) {
	s := &scene{actors: []actor{{name: "pods", state: "healthy"}}}
	require.NoError(t, s.check([]shownInformer{{State: "healthy"}}))
	require.ErrorIs(t, s.check([]shownInformer{{State: "stale"}}), errState)
}
