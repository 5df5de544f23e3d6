package reflector_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/internal/verify"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Reflectors of all sources that the reflector decodes get the objects of answers, as they get those of a
// watch.
func TestOwnWritesOfEachSource(t *testing.T) {
	type source func(*testing.T, *rest.Config) reflector.Source
	generated := func(t *testing.T, c *rest.Config) reflector.Source { return podSource(typedClient(t, c), "ns") }
	for _, row := range []struct {
		name, contentType string
		source            source
		example           any
	}{
		{"generated, JSON", kruntime.ContentTypeJSON, generated, &corev1.Pod{}},
		{"generated, protobuf", kruntime.ContentTypeProtobuf, generated, &corev1.Pod{}},
		{"custom resource", kruntime.ContentTypeJSON, func(t *testing.T, c *rest.Config) reflector.Source {
			return reflector.FromCustomResource[*corev1.Pod](typedClient(t, c).CoreV1().Pods(""), podResource)
		}, &corev1.Pod{}},
		{"dynamic", kruntime.ContentTypeJSON, func(t *testing.T, c *rest.Config) reflector.Source {
			client, err := dynamic.NewForConfig(c)
			require.NoError(t, err)
			return reflector.FromDynamic(client, podResource, "")
		}, &unstructured.Unstructured{}},
		{"metadata", kruntime.ContentTypeJSON, func(t *testing.T, c *rest.Config) reflector.Source {
			client, err := metadata.NewForConfig(c)
			require.NoError(t, err)
			return reflector.FromMetadata(client, podResource, "")
		}, &metav1.PartialObjectMetadata{}},
		{"controller-runtime", kruntime.ContentTypeJSON, func(t *testing.T, c *rest.Config) reflector.Source {
			pods := typedClient(t, c).CoreV1().Pods("ns")
			return reflector.FromControllerRuntime(&cache.ListWatch{
				ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (kruntime.Object, error) { return pods.List(ctx, o) },
				WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
					return pods.Watch(ctx, o)
				},
			}, &corev1.Pod{})
		}, &corev1.Pod{}},
	} {
		for _, wires := range []string{"", ", with Wire inside"} {
			t.Run(row.name+wires, func(t *testing.T) {
				_, config := inMemory(t)
				config.ContentType, config.AcceptContentTypes = row.contentType, row.contentType
				if wires != "" {
					config.Wrap(reflector.Wire)
				}
				own := reflector.NewOwnWrites()
				config.Wrap(own.Wire)
				s := newShown()
				defer reads(t, row.source(t, config), s, row.example)()
				require.Equal(t, []bool{false}, s.linked)

				shows := func(want ownwrites.Kind, version string) {
					t.Helper()
					a := s.one(t)
					require.Equal(t, [2]any{want, ownwrites.Inside}, [2]any{a.Kind, a.Scope})
					require.Equal(t, indexer.Key{Namespace: "ns", Name: "a"}, a.Key)
					require.Equal(t, version, a.Version)
					require.EqualValues(t, 7, a.Before.History)
					require.True(t, apiequality.Semantic.DeepEqual(s.object(version), a.Object), "%#v\n%#v", s.object(version), a.Object)
				}
				pods := typedClient(t, config).CoreV1().Pods("ns")
				p, err := pods.Create(t.Context(), pod("a", "1"), metav1.CreateOptions{})
				require.NoError(t, err)
				shows(ownwrites.Object, p.ResourceVersion)
				require.True(t, own.Made("", nil, p), "a creation")
				require.False(t, own.Made("w", (*corev1.Pod)(nil), p))
				before := p.DeepCopy()
				p.Status.Phase = corev1.PodRunning
				p, err = pods.UpdateStatus(reflector.WithWriter(t.Context(), "w"), p, metav1.UpdateOptions{})
				require.NoError(t, err)
				require.True(t, own.Made("w", before, p))
				require.False(t, own.Made("", before, p))
				another := before.DeepCopy()
				another.UID = "another"
				require.False(t, own.Made("w", another, p))
				require.False(t, own.Made("w", p, p))
				require.False(t, own.Made("w", (*corev1.Pod)(nil), p))
				require.False(t, own.Made("w", nil, nil))
				shows(ownwrites.Object, p.ResourceVersion)
				before = p.DeepCopy()
				p, err = pods.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"n":"2"}}}`), metav1.PatchOptions{})
				require.NoError(t, err)
				require.False(t, own.Made("", before, p), "a write without a condition")
				shows(ownwrites.Object, p.ResourceVersion)
				require.NoError(t, pods.Delete(t.Context(), "a", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}))
				require.Empty(t, s.take())
				require.NoError(t, pods.Delete(t.Context(), "a", metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
				a := s.one(t)
				require.Equal(t, ownwrites.Deleted, a.Kind)
				require.NotNil(t, a.Object)
			})
		}
	}
}

// Each reflector gets the answers that concern it: by namespace, selector, kind and user.
func TestOwnWritesByReader(t *testing.T) {
	_, config := inMemory(t)
	own := reflector.NewOwnWrites()
	config.Wrap(own.Wire)
	client := typedClient(t, config)
	tweaked := func(tweak func(*metav1.ListOptions)) reflector.Source {
		source := podSource(client, "")
		source.Tweak = tweak
		return source
	}
	all, elsewhere, selected, byField := newShown(), newShown(), newShown(), newShown()
	defer reads(t, podSource(client, ""), all, &corev1.Pod{})()
	defer reads(t, podSource(client, "other"), elsewhere, &corev1.Pod{})()
	defer reads(t, tweaked(func(o *metav1.ListOptions) { o.LabelSelector = "n=2" }), selected, &corev1.Pod{})()
	defer reads(t, tweaked(func(o *metav1.ListOptions) { o.FieldSelector = "status.phase=Running" }), byField, &corev1.Pod{})()
	require.Equal(t, []bool{true}, selected.linked)
	other := rest.CopyConfig(config)
	other.Impersonate = rest.ImpersonationConfig{UserName: "somebody", Groups: []string{"b", "a"}}
	impersonating := newShown()
	otherClient := typedClient(t, other)
	defer reads(t, podSource(otherClient, ""), impersonating, &corev1.Pod{})()

	pods := client.CoreV1().Pods("ns")
	p, err := pods.Create(t.Context(), pod("a", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, ownwrites.Inside, all.one(t).Scope)
	a := selected.one(t)
	require.Equal(t, [2]any{ownwrites.Outside, p.ResourceVersion}, [2]any{a.Scope, a.Version})
	require.Nil(t, a.Object)
	a = byField.one(t)
	require.Equal(t, ownwrites.Unknown, a.Scope)
	require.Nil(t, a.Object)
	require.Empty(t, append(elsewhere.take(), impersonating.take()...))

	p.Labels["n"] = "2"
	_, err = otherClient.CoreV1().Pods("ns").Update(t.Context(), p, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, ownwrites.Inside, impersonating.one(t).Scope)
	require.Empty(t, append(all.take(), selected.take()...))

	_, err = client.CoreV1().ConfigMaps("ns").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, pods.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	require.Equal(t, ownwrites.Doubt, all.one(t).Kind)
	require.Empty(t, elsewhere.take())
}

// Clients whose configs spell the server's address in different ways have one server.
func TestOwnWritesAtAnotherSpelling(t *testing.T) {
	_, config := inMemory(t)
	config.Wrap(reflector.NewOwnWrites().Wire)
	other := rest.CopyConfig(config)
	other.Host = strings.ToUpper(strings.TrimPrefix(config.Host, "http://")) + ":80"
	s := newShown()
	defer reads(t, podSource(typedClient(t, config), ""), s, &corev1.Pod{})()
	p, err := typedClient(t, other).CoreV1().Pods("ns").Create(t.Context(), pod("a", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, p.ResourceVersion, s.one(t).Version)
}

// An answer whose object is malformed behind its metadata says what the write has done. The object comes from
// the watch.
func TestAnswersThatCannotBeDecoded(t *testing.T) {
	_, config := inMemory(t)
	answering(config, func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(podText[:len(podText)-1]))}, nil
	})
	sink := newShown()
	defer reads(t, podSource(typedClient(t, config), ""), sink, &corev1.Pod{})()
	rt, _ := wireOf(t, config)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, config.Host+"/api/v1/namespaces/ns/pods/a", strings.NewReader("{}"))
	require.NoError(t, err)
	answer, err := rt.RoundTrip(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	a := sink.one(t)
	require.Equal(t, [2]any{ownwrites.Object, ownwrites.Unknown}, [2]any{a.Kind, a.Scope})
	require.NotEmpty(t, a.Version)
	require.Nil(t, a.Object)
}

// Text in place of a list or a watch fails that request. What the program writes is shown as before.
func TestOwnWritesAfterATextForAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, config := inMemory(t)
		texts := map[string]bool{} // by what is asked for
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return round(func(r *http.Request) (*http.Response, error) {
				if what := r.URL.Query().Get("watch"); r.Method == http.MethodGet && !texts[what] {
					texts[what] = true
					return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(strings.NewReader("wait"))}, nil
				}
				return next.RoundTrip(r)
			})
		})
		config.Wrap(reflector.NewOwnWrites().Wire)
		client, s := typedClient(t, config), newShown()
		defer reads(t, podSource(client, ""), s, &corev1.Pod{})()
		require.Len(t, texts, 2)
		p, err := client.CoreV1().Pods("ns").Create(t.Context(), pod("a", "1"), metav1.CreateOptions{})
		require.NoError(t, err)
		require.Equal(t, p.ResourceVersion, s.one(t).Version)
	})
}

// A request that is no list or watch of a running reflector links none.
func TestOnlyReflectorsAreLinked(t *testing.T) {
	_, config := inMemory(t)
	config.Wrap(reflector.NewOwnWrites().Wire)
	client := typedClient(t, config)
	create := func(name string) {
		t.Helper()
		_, err := client.CoreV1().Pods("ns").Create(t.Context(), pod(name, "1"), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	plain, s := newShown(), newShown()
	defer reads(t, reflector.From(client.CoreV1().Pods("")), plain, &corev1.Pod{})()
	source := podSource(client, "")
	version, err := reflector.Newest(t.Context(), source)
	require.NoError(t, err)
	_, err = source.List(t.Context(), metav1.ListOptions{ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	require.NoError(t, err)
	create("a")
	require.Empty(t, plain.linked)
	stop := reads(t, source, s, &corev1.Pod{})
	create("b")
	s.one(t)
	stop()
	create("c")
	require.Empty(t, append(s.take(), plain.take()...))
}

// A write is held for at most a second, less if its context ends, and once by a sink that does not return. What a
// sink does is never the caller's error.
func TestSinksThatDoNotReturn(t *testing.T) {
	for name, takes := range map[string]func(chan struct{}){
		"hangs":  func(end chan struct{}) { <-end },
		"panics": func(chan struct{}) { panic("of a sink") },
		"exits":  func(chan struct{}) { runtime.Goexit() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, config := inMemory(t)
				config.Wrap(reflector.NewOwnWrites().Wire)
				client := typedClient(t, config)
				end := make(chan struct{})
				bad, good := newShown(), newShown()
				bad.takes = func(ownwrites.Answer) { takes(end) }
				defer reads(t, podSource(client, ""), bad, &corev1.Pod{})()
				defer reads(t, podSource(client, ""), good, &corev1.Pod{})()
				create := func(ctx context.Context, name string) (held time.Duration) {
					t.Helper()
					since := time.Now()
					p, err := client.CoreV1().Pods("ns").Create(ctx, pod(name, "1"), metav1.CreateOptions{})
					require.NoError(t, err)
					held = time.Since(since)
					require.Equal(t, p.ResourceVersion, good.one(t).Version, "one sink does not concern another")
					return held
				}
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				if name != "hangs" {
					require.Zero(t, create(t.Context(), "a"))
					require.Contains(t, kinds(bad.take()), ownwrites.Doubt)
					return
				}
				require.Equal(t, 100*time.Millisecond, create(ctx, "a"))
				require.Len(t, bad.missed, 1)
				require.Zero(t, create(t.Context(), "b"))
				require.Len(t, bad.missed, 2)
				require.Len(t, bad.take(), 1, "it is not asked while it is late")
				close(end)
				synctest.Wait()
				require.Zero(t, create(t.Context(), "c"))
				require.Len(t, bad.take(), 1)
				end = make(chan struct{})
				held := create(t.Context(), "d")
				require.Positive(t, held)
				require.LessOrEqual(t, held, time.Second)
				close(end)
			})
		})
	}
}

// Sixteen writers write the same and other objects while reflectors come and go.
func TestOwnWritesOfManyGoroutines(t *testing.T) {
	_, config := inMemory(t)
	own := reflector.NewOwnWrites()
	config.Wrap(own.Wire)
	client := typedClient(t, config)
	s := newShown()
	defer reads(t, podSource(client, ""), s, &corev1.Pod{})()
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			ctx, pods := reflector.WithWriter(t.Context(), strconv.Itoa(i)), client.CoreV1().Pods("ns")
			p, err := pods.Create(ctx, pod("own"+strconv.Itoa(i), "1"), metav1.CreateOptions{})
			for range 20 {
				if err != nil {
					break
				}
				before := p.DeepCopy()
				p.Labels["n"] += "x"
				if p, err = pods.Update(ctx, p, metav1.UpdateOptions{}); err == nil && !own.Made(strconv.Itoa(i), before, p) {
					err = errors.New("not its own update")
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
		all.Go(func() { reads(t, podSource(client, "ns"), newShown(), &corev1.Pod{})() })
	}
	all.Wait()
	objects := map[string]bool{}
	for _, a := range s.take() {
		if a.Kind == ownwrites.Object {
			require.NotNil(t, a.Object)
			objects[a.Version] = true
		}
	}
	require.Len(t, objects, 16*21)
}

// BenchmarkOwnWrite writes an object of 10 kB: without the transport, of a kind that nobody reads, and of
// one that a reflector reads.
func BenchmarkOwnWrite(b *testing.B) {
	defer func(on bool) { verify.On = on }(verify.On)
	verify.On = false // as in a program
	text := podText[:len(podText)-1] + `,"spec":{"containers":[` + strings.TrimSuffix(strings.Repeat(`{"name":"c","image":"registry.example.com/some/image:v1","env":[{"name":"A","value":"b"}]},`, 110), ",") + `]}}`
	for _, row := range []struct{ name, path string }{{"plain", ""}, {"other kind", "configmaps/a"}, {"read", "pods/a"}} {
		b.Run(row.name, func(b *testing.B) {
			_, config := inMemory(b)
			write := func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(text)), Body: io.NopCloser(strings.NewReader(text))}, nil
			}
			answering(config, write)
			defer reads(b, podSource(typedClient(b, config), ""), newShown(), &corev1.Pod{})()
			rt, _ := wireOf(b, config)
			if row.path == "" {
				rt = round(write)
			}
			request, err := http.NewRequestWithContext(b.Context(), http.MethodPut, config.Host+"/api/v1/namespaces/ns/"+orElse(row.path, "pods/a"), strings.NewReader(text))
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				answer, err := rt.RoundTrip(request)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
			}
		})
	}
}
