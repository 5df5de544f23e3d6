package informer_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/dynamic"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// B54: an informer requests its resource at most once a second over 30 s, also if a definition comes and
// goes every few milliseconds.
func TestContract_B54_ADefinitionThatFlaps(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.define("v1")
		w := run[*widget](t, c.dynamically())
		const seconds = 60
		for began := time.Now(); time.Since(began) < seconds*time.Second; {
			c.undefine()
			time.Sleep(5 * time.Millisecond)
			c.define("v1")
			time.Sleep(5 * time.Millisecond)
		}
		t.Logf("%d requests", c.requests(""))
		require.LessOrEqual(t, c.requests(""), seconds)
		c.create("v1", "a")
		require.NoError(t, w.WaitSynced(t.Context()))
	})
}

// B54: a watch that brings something and ends with 404 does not make the informer list without a pause.
func TestContract_B54_AWatchThatBringsAnEventAndA404(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.define("v1")
		c.create("v1", "a")
		config := c.config()
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTrip(func(r *http.Request) (*http.Response, error) {
				q := r.URL.Query()
				switch {
				case q.Get("watch") == "" || r.URL.Path != "/apis/example.com/v1/widgets":
					return next.RoundTrip(r)
				case q.Get("sendInitialEvents") != "":
					return &http.Response{StatusCode: http.StatusBadRequest, Request: r, Body: http.NoBody}, nil
				}
				body := `{"type":"MODIFIED","object":{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"default","uid":"u","resourceVersion":"9"}}}
{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}}
`
				return &http.Response{StatusCode: http.StatusOK, Request: r, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewBufferString(body))}, nil
			})
		})
		run[*widget](t, reflector.FromDynamic(dynamic.NewForConfigOrDie(config), widgetsV1, ""))
		time.Sleep(4 * time.Second)
		require.LessOrEqual(t, c.requests("/widgets"), 8, "a stream, and lists and watches with pauses of a second, doubled")
	})
}
