package controllerruntime

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// The page is served where it is wanted, unless the path is taken. The caller's map of handlers stays as it is.
func TestWhereThePageIs(t *testing.T) {
	filter := func(*rest.Config, *http.Client) (server.Filter, error) { return nil, nil }
	theirs := map[string]http.Handler{pagePath: http.NotFoundHandler()}
	for name, row := range map[string]struct {
		metrics  server.Options
		more     []Option
		served   bool
		anyHost  bool
		refused  bool
		reported int
	}{
		"by default":                   {},
		"behind a filter":              {metrics: server.Options{FilterProvider: filter}, served: true, anyHost: true},
		"by an option":                 {more: []Option{Page(true)}, served: true},
		"not behind a filter":          {metrics: server.Options{FilterProvider: filter}, more: []Option{Page(false)}},
		"without a server":             {metrics: server.Options{BindAddress: "0"}, more: []Option{Page(true)}, reported: 1},
		"without a server, by default": {metrics: server.Options{BindAddress: "0"}},
		"where another is":             {metrics: server.Options{ExtraHandlers: theirs}, more: []Option{Page(true)}, refused: true},
		"where another is, by default": {metrics: server.Options{ExtraHandlers: theirs}},
		"with other handlers":          {metrics: server.Options{ExtraHandlers: map[string]http.Handler{"/other": http.NotFoundHandler()}}, more: []Option{Page(true)}, served: true},
	} {
		t.Run(name, func(t *testing.T) {
			before, lines := len(row.metrics.ExtraHandlers), logged.Count("The page of informers is not served")
			o := ctrl.Options{Metrics: row.metrics}
			s := settingsOf(row.more)
			err := newInformers(s, nil).addPage(&o)
			require.Len(t, row.metrics.ExtraHandlers, before)
			require.Equal(t, row.reported, logged.Count("The page of informers is not served")-lines)
			if row.refused {
				require.ErrorIs(t, err, ErrOptions)
				return
			}
			require.NoError(t, err)
			if !row.served {
				require.Len(t, o.Metrics.ExtraHandlers, before)
				return
			}
			require.Len(t, o.Metrics.ExtraHandlers, before+1)
			for host, want := range map[string]bool{"localhost": true, "manager.example.com": row.anyHost} {
				w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, pagePath, nil)
				r.Host = host
				o.Metrics.ExtraHandlers[pagePath].ServeHTTP(w, r)
				require.Equal(t, want, w.Code == http.StatusOK, host)
			}
		})
	}
}

func TestNewManagerRefusesASecondPage(t *testing.T) {
	o := quiet()
	o.Metrics = server.Options{ExtraHandlers: map[string]http.Handler{pagePath: http.NotFoundHandler()}}
	_, err := NewManager(newServer(t).ClientConfig(), o, Page(true))
	require.ErrorIs(t, err, ErrOptions)
}
