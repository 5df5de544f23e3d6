package served

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// once calls Await for at most a given time, and returns the duration of the call.
func once(t *testing.T, r *Resource, objects bool, most time.Duration) (a Answer, versions []string, after time.Duration) {
	t.Helper()
	start := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	a, versions, err := r.Await(ctx, objects)
	if a == 0 {
		require.ErrorIs(t, err, context.DeadlineExceeded)
	} else {
		require.NoError(t, err)
	}
	return a, versions, time.Since(start)
}

// await calls Await as a reflector does after a 404: if the answer is Unknowable, it calls again.
func await(t *testing.T, r *Resource, objects bool, most time.Duration) (a Answer, versions []string, after time.Duration) {
	t.Helper()
	for start := time.Now(); ; {
		left := most - time.Since(start)
		if left <= 0 {
			return 0, nil, most
		}
		if a, versions, _ = once(t, r, objects, left); a != Unknowable {
			return a, versions, time.Since(start)
		}
	}
}

func middle() float64 { return 0.5 }

// in runs a test in a bubble, with a server and a Resource that uses a dynamic client.
func in(t *testing.T, test func(*testing.T, *server, *Resource)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		test(t, s, New(s.dynamic(t), widgets, middle))
	})
}

// after changes the server after a delay.
func (s *server) after(d time.Duration, change func()) {
	time.AfterFunc(d, func() { s.set(change) })
}

const groupPath, groupsPath = "/apis/example.com", "/apis"

// Discovery finds a resource at most 15 s after it appears.
func TestResourceComes(t *testing.T) {
	for _, at := range []time.Duration{10 * time.Second, 3*time.Minute + time.Second, time.Hour} {
		in(t, func(t *testing.T, s *server, r *Resource) {
			s.served["example.com"] = []string{"v0"} // which has other resources
			s.after(at, func() { s.served["example.com"] = []string{"v0", "v1"} })
			a, _, after := await(t, r, false, 2*time.Hour)
			require.Equal(t, Served, a)
			require.LessOrEqual(t, after-at, longestPause*3/2)
			require.LessOrEqual(t, s.asked(groupPath), int(at/longestPause)+4, "there is no storm")
		})
	}
}

// A resource that is said to be served, and is not, is asked about with growing pauses.
func TestPausesGrowUntilTheResourceIsFound(t *testing.T) {
	in(t, func(t *testing.T, s *server, r *Resource) {
		s.served["example.com"] = []string{"v1"}
		var pauses []time.Duration
		for range 7 {
			a, _, after := once(t, r, false, time.Hour)
			require.Equal(t, Served, a)
			pauses = append(pauses, after)
		}
		const second = time.Second
		require.Equal(t, []time.Duration{1250 * time.Millisecond, 2500 * time.Millisecond, 5 * second, 10 * second, 12500 * time.Millisecond, 12500 * time.Millisecond, 12500 * time.Millisecond}, pauses)
		r.Found()
		_, _, after := once(t, r, false, time.Hour)
		require.Equal(t, pauses[0], after)
	})
}

// Three answers in a row that lack the resource, with 10 s from the first to the last, prove that it was
// removed.
func TestResourceIsDeleted(t *testing.T) {
	in(t, func(t *testing.T, s *server, r *Resource) {
		s.served["other.example.com"] = []string{"v1"}
		a, _, after := await(t, r, true, time.Hour)
		require.Equal(t, Deleted, a)
		require.Equal(t, 18750*time.Millisecond, after, "the first three answers lie within 7.5 s")
		require.Equal(t, 4, s.asked(groupPath))
		a, _, _ = await(t, r, true, time.Hour)
		require.Equal(t, Deleted, a)
		require.Equal(t, 4+3, s.asked(groupPath), "there are no more answers than needed")
		a, _, _ = await(t, r, false, time.Hour)
		require.Zero(t, a, "there is nothing to delete")
	})
}

// No failure of a server, or of a proxy before it, is reported as a deletion.
func TestResourceIsNotDeletedWithoutProof(t *testing.T) {
	for name, harm := range map[string]func(*server){
		"nobody listens":           func(s *server) { s.down = true },
		"all is 404":               func(s *server) { s.answers["/"] = http.StatusNotFound },
		"all is 503":               func(s *server) { s.answers["/"] = http.StatusServiceUnavailable },
		"all is 401":               func(s *server) { s.answers["/"] = http.StatusUnauthorized },
		"all is forbidden":         func(s *server) { s.answers["/"] = http.StatusForbidden },
		"the list of groups fails": func(s *server) { s.answers["/apis"] = http.StatusInternalServerError },
		"the group is contradicted": func(s *server) {
			s.served["example.com"] = []string{"v1"}
			s.answers["/apis/example.com"] = http.StatusNotFound
		},
		"the version is contradicted": func(s *server) {
			s.served["example.com"] = []string{"v0"}
			s.answers["/apis/example.com/v0"] = http.StatusNotFound
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, s *server, r *Resource) {
				harm(s)
				a, _, after := once(t, r, true, time.Hour)
				require.Equal(t, Unknowable, a)
				require.Equal(t, 1250*time.Millisecond, after)
				a, _, _ = await(t, r, true, time.Hour)
				require.Zero(t, a)
				require.Less(t, s.asked(groupPath), int(time.Hour/longestPause))
			})
		})
	}
}

// Answers that lack the resource prove no deletion if the server was down between them.
func TestAnswersInARow(t *testing.T) {
	in(t, func(t *testing.T, s *server, r *Resource) {
		s.after(5*time.Second, func() { s.down = true }) // two answers have come
		s.after(time.Minute, func() { s.down = false })
		a, _, after := await(t, r, true, time.Hour)
		require.Equal(t, Deleted, a)
		require.GreaterOrEqual(t, after, time.Minute+proofTime)
	})
}

func TestOtherVersions(t *testing.T) {
	in(t, func(t *testing.T, s *server, r *Resource) {
		s.served["example.com"] = []string{"v3beta1", "v2"}
		a, versions, _ := once(t, r, true, time.Hour)
		require.Equal(t, Elsewhere, a)
		require.Equal(t, []string{"v3beta1", "v2"}, versions)
	})
}

// An answer takes at most half a minute.
func TestDocumentThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := func(ctx context.Context, _ schema.GroupVersion) (map[string]any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		a, _, after := once(t, New(hangs, widgets, middle), true, time.Hour)
		require.Equal(t, Unknowable, a)
		require.Equal(t, 1250*time.Millisecond+patience, after)

		a, _, after = once(t, New(hangs, widgets, middle), true, 5*time.Second)
		require.Zero(t, a, "the context has ended first")
		require.Equal(t, 5*time.Second, after)
	})
}

func TestDocumentsInJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		documents := func(_ context.Context, gv schema.GroupVersion) ([]byte, error) {
			if gv.Version == "" {
				return []byte(`{"kind":"APIGroup","versions":[{"version":"v1"}]}`), nil
			}
			return []byte(`{"kind":"APIResourceList","resources":[{"name":"widgets","verbs":["list","watch"]}]}`), nil
		}
		a, _, _ := once(t, New(FromJSON(documents), widgets, middle), false, time.Hour)
		require.Equal(t, Served, a)
		for _, text := range []string{"", "<html>", `{"kind":"Status"}`} {
			documents := func(context.Context, schema.GroupVersion) ([]byte, error) { return []byte(text), nil }
			a, _, _ := once(t, New(FromJSON(documents), widgets, middle), true, time.Hour)
			require.Equal(t, Unknowable, a, "%q is no discovery", text)
		}
		failing := func(context.Context, schema.GroupVersion) ([]byte, error) { return nil, ErrNoDiscovery }
		_, err := FromJSON(failing)(t.Context(), schema.GroupVersion{})
		require.ErrorIs(t, err, ErrNoDiscovery)
	})
}

// A Resource can use the transport of a typed client's REST client, which decodes other types.
func TestRESTClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		config, client := s.config()
		config.ContentType = "application/vnd.kubernetes.protobuf"
		clientset, err := kubernetes.NewForConfigAndClient(config, client)
		require.NoError(t, err)
		documents := FromREST(clientset.AppsV1().RESTClient().(*rest.RESTClient))
		s.after(time.Minute, func() { s.served["example.com"] = []string{"v1"} })
		a, _, _ := await(t, New(documents, widgets, middle), false, time.Hour)
		require.Equal(t, Served, a)
		for _, path := range []string{groupPath, groupsPath, groupPath + "/v1"} {
			require.NotZero(t, s.asked(path), path)
		}
	})
}

func TestCoreResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.served[""] = []string{"v1"}
		r := New(s.dynamic(t), schema.GroupVersionResource{Version: "v1", Resource: "widgets"}, nil)
		a, _, _ := once(t, r, true, time.Hour)
		require.Equal(t, Served, a)
		require.Equal(t, []string{"/api", "/api/v1"}, s.requests)
	})
}

func TestNoClient(t *testing.T) {
	require.Nil(t, FromDynamic(nil))
	require.Nil(t, FromREST(nil))
}

func TestPause(t *testing.T) {
	require.Equal(t, time.Second, pause(0, 0))
	require.Equal(t, 6*time.Second, pause(2, 1))
	require.Equal(t, longestPause, pause(4, 0))
	require.Equal(t, longestPause*3/2, pause(1<<40, 1))
}
