package factory_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

var pods = corev1.SchemeGroupVersion.WithResource("pods")

// serves starts a server with some pods, and returns a client configuration for JSON.
func serves(t *testing.T, names ...string) (*informertest.Server, *rest.Config) {
	t.Helper()
	server := informertest.New(informertest.Options{})
	t.Cleanup(server.Close)
	require.NoError(t, server.Start())
	for _, name := range names {
		require.NoError(t, server.Create(t.Context(), limited(name, "100m")))
	}
	config := server.ClientConfig()
	config.ContentType = runtime.ContentTypeJSON
	return server, config
}

// limited returns a pod with a limit. Two such pods differ only in their names.
func limited(name, cpu string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name,
			Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"note": "the same"}, Finalizers: []string{"example.com/hold"},
		},
		Spec: corev1.PodSpec{
			NodeSelector: map[string]string{"disk": "fast"},
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.example.com/web:1", Env: []corev1.EnvVar{{Name: "MODE", Value: "production"}, {Name: "LEVEL", Value: "info"}},
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
			}},
		},
	}
}

// runs starts the factory's informers and waits for the informer of pods.
func runs(t *testing.T, f *factory.Factory) *informer.Informer[*corev1.Pod] {
	t.Helper()
	i, err := factory.For[*corev1.Pod](f)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	f.StartWithContext(ctx)
	t.Cleanup(func() {
		cancel()
		f.Shutdown()
	})
	require.NoError(t, i.WaitSynced(ctx))
	return i
}

// spoiling is a transport that can replace the quantity "666m" in answers by "BAD!": a text of
// the same length that is no quantity.
type spoiling struct {
	next http.RoundTripper
	on   *atomic.Bool
}

func (s spoiling) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.next.RoundTrip(r)
	if err == nil {
		answer.Body = &spoiledLines{ReadCloser: answer.Body, lines: bufio.NewReader(answer.Body), on: s.on}
	}
	return answer, err
}

type spoiledLines struct {
	io.ReadCloser
	lines *bufio.Reader
	on    *atomic.Bool
	line  []byte
	err   error
}

func (s *spoiledLines) Read(p []byte) (int, error) {
	if len(s.line) == 0 && s.err == nil {
		s.line, s.err = s.lines.ReadBytes('\n')
		if s.on.Load() {
			s.line = bytes.ReplaceAll(s.line, []byte(`"666m"`), []byte(`"BAD!"`))
		}
	}
	n := copy(p, s.line)
	s.line = s.line[n:]
	if n == 0 {
		return 0, s.err
	}
	return n, nil
}

// An object that cannot be decoded affects no other object. A known object keeps its last good
// version, and no Delete is delivered; an unknown one is missing from the store. It is counted,
// the watch error handler is called, and its next good version ends the quarantine.
func TestContract_D30_AnObjectThatCannotBeDecoded(t *testing.T) {
	server, config := serves(t, "known", "other")
	require.NoError(t, server.Create(t.Context(), limited("unknown", "666m")))
	var on atomic.Bool
	on.Store(true)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return spoiling{next, &on} })
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	f := factory.NewSharedInformerFactory(client, 0)
	recorded := make(chan error, 10)
	shared := f.Core().V1().Pods().Informer()
	require.NoError(t, shared.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { recorded <- err }))
	type change struct{ what, name string }
	changes := make(chan change, 10)
	_, err = shared.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { changes <- change{"add", obj.(*corev1.Pod).Name} },
		UpdateFunc: func(_, obj any) { changes <- change{"update", obj.(*corev1.Pod).Name} },
		DeleteFunc: func(obj any) { changes <- change{"delete", ""} },
	})
	require.NoError(t, err)
	i := runs(t, f)
	require.ElementsMatch(t, []change{{"add", "known"}, {"add", "other"}}, []change{<-changes, <-changes})
	quarantined := &informer.QuarantineError{}
	require.ErrorAs(t, <-recorded, &quarantined)
	require.Equal(t, "unknown", quarantined.Key.Name)
	require.ErrorIs(t, quarantined, informer.ErrDecode)
	require.Equal(t, 1, i.Status().Quarantined)

	require.NoError(t, server.Update(t.Context(), limited("known", "666m")))
	require.ErrorAs(t, <-recorded, &quarantined)
	require.Equal(t, "known", quarantined.Key.Name)
	require.NoError(t, server.Update(t.Context(), limited("other", "200m")))
	require.Equal(t, change{"update", "other"}, <-changes, "the rest goes on")
	require.Equal(t, 2, i.Status().Quarantined)
	stale, err := i.Lister().Namespace("default").Get("known")
	require.NoError(t, err)
	require.Equal(t, "100m", stale.Spec.Containers[0].Resources.Limits.Cpu().String())

	on.Store(false)
	require.NoError(t, server.Update(t.Context(), limited("known", "300m")))
	require.Equal(t, change{"update", "known"}, <-changes)
	require.NoError(t, server.Update(t.Context(), limited("unknown", "300m")))
	require.Equal(t, change{"add", "unknown"}, <-changes)
	require.Zero(t, i.Status().Quarantined)
}

// Equal nested values of objects of one kind are stored once, except values that programs tend to
// change. Unshared switches sharing off.
func TestContract_D29_EqualValuesAreStoredOnce(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e"}
	for _, content := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		for _, unshared := range []bool{false, true} {
			_, config := serves(t, names...)
			config.ContentType = content
			client, err := kubernetes.NewForConfig(config)
			require.NoError(t, err)
			i := runs(t, factory.NewSharedInformerFactoryWithOptions(client, 0, factory.WithDecoding(reflector.Decoding{Unshared: unshared})))
			get := func(name string) *corev1.Pod {
				p, err := i.Lister().Namespace("default").Get(name)
				require.NoError(t, err)
				require.Equal(t, limited(name, "100m").Spec.Containers[0].Env, p.Spec.Containers[0].Env)
				return p
			}
			d, e := get("d"), get("e") // the values of the first objects are not shared before they are seen again
			same := unsafe.SliceData(d.Spec.Containers[0].Env) == unsafe.SliceData(e.Spec.Containers[0].Env)
			require.Equal(t, !unshared, same, content)
			d.Labels["app"], d.Annotations["note"], d.Finalizers[0], d.Spec.NodeSelector["disk"] = "changed", "changed", "changed", "changed"
			require.Equal(t, "web", e.Labels["app"])
			require.Equal(t, "the same", e.Annotations["note"])
			require.Equal(t, "example.com/hold", e.Finalizers[0])
			require.Equal(t, "fast", e.Spec.NodeSelector["disk"])
		}
	}
}

// A transform may write into its object; values are shared after it has run.
func TestContract_D29_ValuesAreSharedAfterATransform(t *testing.T) {
	_, config := serves(t, "a", "b", "c", "d", "e")
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	i := runs(t, factory.NewSharedInformerFactoryWithOptions(client, 0, factory.WithTransform(func(obj any) (any, error) {
		p := obj.(*corev1.Pod)
		p.Spec.Containers[0].Env[0].Value += " of " + p.Name
		p.Spec.Containers[0].Env[1].Value = "debug"
		return obj, nil
	})))
	d, err := i.Lister().Namespace("default").Get("d")
	require.NoError(t, err)
	e, err := i.Lister().Namespace("default").Get("e")
	require.NoError(t, err)
	require.Equal(t, "production of d", d.Spec.Containers[0].Env[0].Value, "nobody else's change shows")
	require.Equal(t, "production of e", e.Spec.Containers[0].Env[0].Value)
	require.Equal(t, "debug", e.Spec.Containers[0].Env[1].Value)
}

// Fields are left out of the objects of all factories, with and without Wire.
func TestWithDecodingLeavesOutFields(t *testing.T) {
	_, config := serves(t, "a")
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	leaves := reflector.Decoding{Drop: []string{"spec.containers.env"}}
	i := runs(t, factory.NewSharedInformerFactoryWithOptions(client, 0, factory.WithDecoding(leaves)))
	p, err := i.Lister().Namespace("default").Get("a")
	require.NoError(t, err)
	require.Nil(t, p.Spec.Containers[0].Env)
	require.NotEmpty(t, p.Spec.Containers[0].Image)

	for _, wire := range []bool{false, true} {
		if wire {
			config.Wrap(reflector.Wire)
		}
		dynamically, err := dynamic.NewForConfig(config)
		require.NoError(t, err)
		f := factory.NewDynamicSharedInformerFactory(dynamically, 0)
		f.SetDecoding(leaves)
		shared := f.ForResource(pods).Informer()
		ctx, cancel := context.WithCancel(t.Context())
		f.StartWithContext(ctx)
		require.True(t, cache.WaitForCacheSync(ctx.Done(), shared.HasSynced))
		obj, ok, err := shared.GetStore().GetByKey("default/a")
		require.NoError(t, err)
		require.True(t, ok)
		containers, _, err := unstructured.NestedSlice(obj.(*unstructured.Unstructured).Object, "spec", "containers")
		require.NoError(t, err)
		require.NotContains(t, containers[0], "env")
		require.Contains(t, containers[0], "image")
		cancel()
		f.Shutdown()
	}
}

// An informer reports at its start that a field must not be left out.
func TestWithDecodingRefusesIdentity(t *testing.T) {
	f := factory.NewSharedInformerFactoryWithOptions(nil, 0, factory.WithDecoding(reflector.Decoding{Drop: []string{"metadata.uid"}}))
	i, err := factory.For[*corev1.Pod](f)
	require.NoError(t, err)
	require.ErrorIs(t, i.WaitSynced(t.Context()), reflector.ErrBadOptions)
}
