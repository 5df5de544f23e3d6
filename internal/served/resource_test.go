package served

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// once calls Await for at most a given time, and returns the duration of the call.
func once(t *testing.T, r *Resource, known bool, most time.Duration) (a Answer, version string, after time.Duration) {
	t.Helper()
	start := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	a, version, err := r.Await(ctx, known)
	if a == 0 {
		require.ErrorIs(t, err, context.DeadlineExceeded)
	} else {
		require.NoError(t, err)
	}
	return a, version, time.Since(start)
}

// await calls Await as a reflector does after a 404: if the answer is Unknowable, it calls again
// after a back-off.
func await(t *testing.T, r *Resource, known bool, most time.Duration) (a Answer, version string, after time.Duration) {
	t.Helper()
	start := time.Now()
	for step := 1; ; step++ {
		left := most - time.Since(start)
		if left <= 0 {
			return 0, "", most
		}
		if a, version, _ = once(t, r, known, left); a != Unknowable {
			return a, version, time.Since(start)
		}
		time.Sleep(pause(time.Second, longest, step, 0))
	}
}

func middle() float64 { return 0.5 }

// in runs a test in a bubble, with a server and a Resource that uses a dynamic client.
func in(t *testing.T, test func(*testing.T, *server, *Resource)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		test(t, s, New(s.dynamic(t), widgets, true, middle))
	})
}

// after changes the server after a delay.
func (s *server) after(d time.Duration, change func()) {
	time.AfterFunc(d, func() { s.set(change) })
}

var v1 = map[string]bool{"v1": true}

func TestResourceComesWithItsDefinition(t *testing.T) {
	in(t, func(t *testing.T, s *server, r *Resource) {
		s.after(10*time.Minute, func() { s.define(false, v1) })
		s.after(10*time.Minute+time.Second, func() { s.define(true, v1) })
		a, version, after := await(t, r, false, time.Hour)
		require.Equal(t, Served, a)
		require.Equal(t, "v1", version)
		require.Less(t, after-10*time.Minute-time.Second, 100*time.Millisecond)
		require.Len(t, s.asked(crdsPath), 2+2, "it is listed and watched, for at most %v at a time", watchLasts)
		require.Less(t, len(s.asked("/apis?")), 25, "discovery is asked with back-off")
	})
}

func TestResourceIsTriedAgainWithBackOff(t *testing.T) {
	in(t, func(t *testing.T, s *server, r *Resource) {
		s.define(true, v1)
		var pauses []time.Duration
		for range 12 {
			a, _, after := await(t, r, false, time.Hour)
			require.Equal(t, Served, a)
			pauses = append(pauses, after.Round(time.Millisecond))
		}
		require.Equal(t, []time.Duration{0, 125 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second}, pauses[:5])
		require.Equal(t, 37500*time.Millisecond, pauses[11])
		r.Found()
		_, _, after := await(t, r, false, time.Hour)
		require.Zero(t, after)
	})
}

func TestResourceIsDeletedWithItsDefinition(t *testing.T) {
	in(t, func(t *testing.T, s *server, r *Resource) {
		s.define(true, map[string]bool{"v1": false})
		s.after(time.Minute, s.undefine)
		a, _, after := await(t, r, true, time.Hour)
		require.Equal(t, Deleted, a)
		require.Equal(t, time.Minute, after)
		s.after(time.Minute, func() { s.define(true, v1) })
		a, _, after = await(t, r, false, time.Hour)
		require.Equal(t, Served, a)
		require.Equal(t, time.Minute, after)
		require.Empty(t, s.asked("/apis?"), "the definition says it all")
	})
}

func TestResourceIsDeletedWhileNobodyLooks(t *testing.T) {
	in(t, func(t *testing.T, s *server, r *Resource) {
		s.define(true, map[string]bool{"v1": false})
		s.after(time.Minute, func() { s.cut(); s.down = true })
		s.after(2*time.Minute, s.undefine)
		s.after(3*time.Minute, func() { s.down = false })
		a, _, after := await(t, r, true, time.Hour)
		require.Equal(t, Deleted, a)
		require.Less(t, after, 4*time.Minute)
	})
}

// If definitions may not be read, or there never was a definition, two discoveries in a row that
// lack the resource prove its deletion.
func TestResourceIsDeletedByDiscovery(t *testing.T) {
	for name, code := range map[string]int{"forbidden": http.StatusForbidden, "no definitions": http.StatusNotFound, "no definition": 0} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, s *server, r *Resource) {
				if code != 0 {
					s.answers[crdsPath] = code
				}
				s.served["other.example.com"] = []string{"v1"}
				a, _, after := await(t, r, true, time.Hour)
				require.Equal(t, Deleted, a)
				require.Equal(t, 1250*time.Millisecond, after, "one pause lies between")
				require.Len(t, s.asked("/apis?"), 2)
			})
		})
	}
}

func TestResourceComesByDiscovery(t *testing.T) {
	in(t, func(t *testing.T, s *server, r *Resource) {
		s.answers[crdsPath] = http.StatusForbidden
		s.served["example.com"] = []string{"v0"}
		s.after(time.Hour, func() { s.served["example.com"] = []string{"v0", "v1"} })
		a, version, after := await(t, r, false, 2*time.Hour)
		require.Equal(t, Served, a)
		require.Equal(t, "v1", version)
		require.Less(t, after, time.Hour+40*time.Second)
		require.Less(t, len(s.asked("/apis/example.com?")), 160)
		require.Len(t, s.asked(crdsPath), 1)
	})
}

// Discovery finds a resource that appears within some minutes at most ten seconds later.
func TestResourceComesSoonByDiscovery(t *testing.T) {
	for _, at := range []time.Duration{10 * time.Second, time.Minute, 3*time.Minute + time.Second, 5 * time.Minute} {
		in(t, func(t *testing.T, s *server, r *Resource) {
			s.answers[crdsPath] = http.StatusForbidden
			s.served["example.com"] = []string{"v0"}
			s.after(at, func() { s.served["example.com"] = []string{"v0", "v1"} })
			_, version, after := await(t, r, false, 2*time.Hour)
			require.Equal(t, "v1", version)
			require.LessOrEqual(t, after, at+10*time.Second)
		})
	}
}

// No failure of a server, or of a proxy before it, is reported as a deletion.
func TestResourceIsNotDeletedWithoutProof(t *testing.T) {
	for name, harm := range map[string]func(*server){
		"nobody listens":           func(s *server) { s.down = true },
		"all is 404":               func(s *server) { s.answers["/"] = http.StatusNotFound },
		"all is 503":               func(s *server) { s.answers["/"] = http.StatusServiceUnavailable },
		"all is 401":               func(s *server) { s.answers["/"] = http.StatusUnauthorized },
		"the list of groups fails": func(s *server) { s.answers[crdsPath] = 403; s.answers["/apis"] = 500 },
		"the group is contradicted": func(s *server) {
			s.answers[crdsPath] = http.StatusForbidden
			s.served["example.com"] = []string{"v1"}
			s.answers["/apis/example.com"] = http.StatusNotFound
		},
		"the version is contradicted": func(s *server) {
			s.answers[crdsPath] = http.StatusForbidden
			s.served["example.com"] = []string{"v0"}
			s.answers["/apis/example.com/v0"] = http.StatusNotFound
		},
		"it is not established": func(s *server) { s.define(false, v1) },
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, s *server, r *Resource) {
				harm(s)
				a, _, _ := await(t, r, true, time.Hour)
				require.Zero(t, a)
				require.Less(t, len(s.requests), 400, "an hour has %d pauses of %v", time.Hour/longest, longest)
			})
		})
	}
}

// Two discoveries that lack the resource prove no deletion if the server was down between them.
func TestDiscoveriesInARow(t *testing.T) {
	in(t, func(t *testing.T, s *server, r *Resource) {
		s.answers[crdsPath] = http.StatusForbidden
		s.after(time.Second, func() { s.down = true })
		s.after(time.Minute, func() { s.down = false })
		a, _, after := await(t, r, true, time.Hour)
		require.Equal(t, Deleted, a)
		require.Greater(t, after, time.Minute)
		require.Len(t, s.asked("/apis?"), 3)
	})
}

func TestResourceIsUnknowable(t *testing.T) {
	in(t, func(t *testing.T, s *server, r *Resource) {
		s.answers["/"] = http.StatusForbidden
		a, _, after := once(t, r, true, time.Hour)
		require.Equal(t, Unknowable, a)
		require.Zero(t, after)
		require.Len(t, s.requests, 2)
	})
}

// If there is no definition and discovery fails, the reflector requests the resource itself.
func TestResourceIsTriedBlindly(t *testing.T) {
	in(t, func(t *testing.T, s *server, r *Resource) {
		s.answers["/apis/example.com"] = http.StatusInternalServerError
		var tries int
		for start := time.Now(); time.Since(start) < time.Hour; tries++ {
			a, version, _ := once(t, r, true, time.Hour)
			require.Equal(t, Served, a)
			require.Equal(t, "v1", version)
		}
		require.Less(t, tries, 110)
		s.after(time.Second, func() { s.define(true, v1) })
		a, _, after := once(t, r, true, time.Hour)
		require.Equal(t, Served, a)
		require.Equal(t, time.Second, after)
	})
}

func TestVersionIsFollowed(t *testing.T) {
	for name, forbidden := range map[string]bool{"by the definition": false, "by discovery": true} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, s *server, r *Resource) {
				if forbidden {
					s.answers[crdsPath] = http.StatusForbidden
				}
				s.define(true, map[string]bool{"v1": false, "v2": true, "v3beta1": true})
				s.served["example.com"] = []string{"v3beta1", "v2"}
				a, version, _ := await(t, r, true, time.Hour)
				require.Equal(t, Served, a)
				require.Equal(t, "v2", version)

				stays := New(r.client, widgets, false, middle)
				a, _, _ = await(t, stays, true, time.Hour)
				require.Zero(t, a, "its objects cannot be of another version")
			})
		})
	}
}

// A metadata client sees the existence of a definition, but not its versions.
func TestMetadataClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		config, client := s.config()
		c, err := metadata.NewForConfigAndClient(config, client)
		require.NoError(t, err)
		r := New(FromMetadata(c, nil), widgets, true, middle)
		s.after(time.Minute, func() { s.define(false, v1) })
		var a Answer
		for time.Since(s.start) < time.Minute { // it may be there, for all that it knows
			a, _, _ = await(t, r, false, time.Hour)
			require.Equal(t, Served, a)
		}
		require.Equal(t, time.Minute, time.Since(s.start), "the definition comes")
		s.after(time.Minute, func() { s.undefine() })
		for a == Served {
			a, _, _ = await(t, r, true, time.Hour)
		}
		require.Equal(t, Deleted, a)
	})
}

// A metadata client with discovery documents gets the served versions from discovery.
func TestMetadataClientWithDocuments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		config, client := s.config()
		c, err := metadata.NewForConfigAndClient(config, client)
		require.NoError(t, err)
		documents := func(_ context.Context, gv schema.GroupVersion) ([]byte, error) {
			if gv.Version == "" {
				return []byte(`{"kind":"APIGroup","versions":[{"version":"v2"}]}`), nil
			}
			return []byte(`{"kind":"APIResourceList","resources":[{"name":"widgets","verbs":["list","watch"]}]}`), nil
		}
		r := New(FromMetadata(c, documents), widgets, true, middle)
		s.define(true, v1)
		a, version, _ := await(t, r, false, time.Hour)
		require.Equal(t, Served, a)
		require.Equal(t, "v2", version)
		for _, text := range []string{"", "<html>", `{"kind":"Status"}`} {
			r := New(FromMetadata(c, func(context.Context, schema.GroupVersion) ([]byte, error) { return []byte(text), nil }), widgets, true, middle)
			_, version, _ := await(t, r, true, time.Hour)
			require.Equal(t, "v1", version, "%q is no discovery: it may be as wanted", text)
		}
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
		c := FromREST(clientset.AppsV1().RESTClient().(*rest.RESTClient))
		s.after(time.Minute, func() { s.define(true, v1) })
		a, _, after := await(t, New(c, widgets, false, middle), false, time.Hour)
		require.Equal(t, Served, a)
		require.Equal(t, time.Minute, after)
		for _, path := range []string{crdsPath, "/apis/example.com?", "/apis?"} {
			require.NotEmpty(t, s.asked(path))
		}
	})
}

func TestCoreResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.served[""] = []string{"v1"}
		r := New(s.dynamic(t), schema.GroupVersionResource{Version: "v1", Resource: "widgets"}, true, nil)
		a, version, _ := await(t, r, true, time.Hour)
		require.Equal(t, Served, a)
		require.Equal(t, "v1", version)
		require.Equal(t, []string{"/api", "/api/v1"}, paths(s.asked("/")))
	})
}

func paths(requests []string) (all []string) {
	for _, r := range requests {
		_, path, _ := strings.Cut(r, " ")
		path, _, _ = strings.Cut(path, "?")
		all = append(all, path)
	}
	return all
}

func TestNoClient(t *testing.T) {
	require.Nil(t, FromDynamic(nil))
	require.Nil(t, FromREST(nil))
}

func TestPause(t *testing.T) {
	require.Equal(t, time.Second, pause(time.Second, longest, 1, 0))
	require.Equal(t, 6*time.Second, pause(time.Second, longest, 3, 1))
	require.Equal(t, longest, pause(firstRetry, longest, 10, 0))
	require.Equal(t, longest, pause(firstRetry, longest, 1<<40, 0))
	require.Equal(t, eagerPause, longestOf(action{attempt: eagerly, alone: true}))
	require.Equal(t, longest, longestOf(action{attempt: eagerly + 1, alone: true}))
	require.Equal(t, longest, longestOf(action{attempt: eagerly}))
}
