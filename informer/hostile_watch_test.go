package informer

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// watchesHTML answers lists with a pod, refuses streams, and answers watches with a page of HTML.
func watchesHTML(r *http.Request) *http.Response {
	answer := says(200, "<html>sign in</html>", "Content-Type", "text/html")
	switch {
	case r.URL.Query().Get("sendInitialEvents") != "":
		answer = says(400, "")
	case r.URL.Query().Get("watch") == "":
		answer = says(200, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"4"},"items":[`+aPod+`]}`)
	}
	answer.Request = r
	return answer
}

// A page of HTML in place of a watch is a decoding error and not a broken connection, whether this
// module or client-go decodes it. The informer keeps its objects and retries with growing delays.
func TestAWatchAnsweredWithHTML(t *testing.T) {
	for name, start := range map[string]func(*testing.T, http.RoundTripper) func() Status{
		"decoded here": func(t *testing.T, transport http.RoundTripper) func() Status {
			client := kubernetes.NewForConfigOrDie(&rest.Config{Host: "http://server", Transport: transport, QPS: -1})
			pods := reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), schema.GroupVersionResource{Version: "v1", Resource: "pods"})
			i := New(pods, Options[*corev1.Pod]{Observe: observed})
			start(t, i)
			return i.Status
		},
		"decoded by client-go": func(t *testing.T, transport http.RoundTripper) func() Status {
			i := dynamically(t, transport)
			start(t, i)
			return i.Status
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				status := start(t, &answers{answer: watchesHTML})
				time.Sleep(time.Hour)
				st := status()
				require.True(t, st.Synced)
				require.Equal(t, 1, st.Objects)
				require.Equal(t, map[reflector.ErrorClass]int{reflector.ErrorDecode: st.Errors}, st.Totals.Errors)
				require.Contains(t, strings.ToLower(st.LastError.Error()), "html")
				require.Greater(t, st.Totals.Waits, 60, "a minute is the longest delay")
				require.Less(t, st.Totals.Waits, 120, "half a minute the shortest, in the long run")
			})
		})
	}
}
