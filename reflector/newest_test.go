package reflector_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// listing returns a source whose lists are answered by a function.
func listing(f func(context.Context, metav1.ListOptions) (runtime.Object, error)) reflector.Source {
	return reflector.Source{List: f, Watch: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
		return nil, errors.New("not asked for")
	}}
}

func TestNewest(t *testing.T) {
	failed := errors.New("on purpose")
	list := func(version string) reflector.Source {
		return listing(func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: version}}, nil
		})
	}
	for name, test := range map[string]struct {
		source  reflector.Source
		version string
		err     error
	}{
		"a version":  {list("7"), "7", nil},
		"no version": {list(""), "", nil},
		"a fake":     {reflector.From(fakePods()), "", nil},
		"no source":  {reflector.Source{}, "", reflector.ErrNoSource},
		"an error":   {listing(func(context.Context, metav1.ListOptions) (runtime.Object, error) { return nil, failed }), "", failed},
		"nothing":    {listing(func(context.Context, metav1.ListOptions) (runtime.Object, error) { return nil, nil }), "", reflector.ErrBadAnswer},
		"a nil list": {listing(func(context.Context, metav1.ListOptions) (runtime.Object, error) { return (*corev1.PodList)(nil), nil }), "", reflector.ErrBadAnswer},
		"not a list": {listing(func(context.Context, metav1.ListOptions) (runtime.Object, error) { return &metav1.Status{}, nil }), "", reflector.ErrBadAnswer},
		"a panic":    {listing(func(context.Context, metav1.ListOptions) (runtime.Object, error) { panic("on purpose") }), "", reflector.ErrPanic},
	} {
		t.Run(name, func(t *testing.T) {
			version, err := reflector.Newest(t.Context(), test.source)
			require.ErrorIs(t, err, test.err)
			require.Equal(t, test.version, version)
		})
	}
}

// fakePods is a fake client whose lists have a version.
func fakePods() typedcorev1.PodInterface {
	clientset := fake.NewClientset()
	clientset.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}, nil
	})
	return clientset.CoreV1().Pods("")
}

// The question has neither a version nor a selector, whatever tweaks the source.
func TestNewestAsksWithoutTheTweak(t *testing.T) {
	var asked []metav1.ListOptions
	source := listing(func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
		asked = append(asked, o)
		return &corev1.PodList{}, nil
	})
	source.Tweak = func(o *metav1.ListOptions) { o.LabelSelector = "app=web" }
	_, err := reflector.Newest(t.Context(), source)
	require.NoError(t, err)
	require.Equal(t, []metav1.ListOptions{{Limit: 1}}, asked)
}

// RBAC may allow a list of one name, and the node authorizer one of the pods of a node.
func TestNewestAsksWithTheTweakIfTheServerForbidsMore(t *testing.T) {
	var asked []metav1.ListOptions
	source := listing(func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
		asked = append(asked, o)
		if o.FieldSelector == "" {
			return nil, apierrors.NewForbidden(corev1.Resource("pods"), "", nil)
		}
		return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}, nil
	})
	_, err := reflector.Newest(t.Context(), source)
	require.True(t, apierrors.IsForbidden(err))
	asked = nil
	source.Tweak = func(o *metav1.ListOptions) { o.FieldSelector, o.ResourceVersion, o.Limit = "metadata.name=a", "0", 500 }
	version, err := reflector.Newest(t.Context(), source)
	require.NoError(t, err)
	require.Equal(t, "7", version)
	require.Equal(t, []metav1.ListOptions{{Limit: 1}, {Limit: 1, FieldSelector: "metadata.name=a"}}, asked, "a version would be one of a cache")
}

// Where the reflector reads the bytes, the question decodes no object. The request of a generated client asks for
// metadata.
func TestNewestDecodesNoObject(t *testing.T) {
	encoded := &bytes.Buffer{}
	require.NoError(t, protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(&corev1.PodList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: make([]corev1.Pod, 1),
	}, encoded))
	status := &bytes.Buffer{}
	require.NoError(t, protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(&metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonGone, Code: http.StatusGone,
	}, status))
	for name, row := range map[string]struct {
		body    string
		version string
		fails   bool
	}{
		"metadata":         {body: `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"items":[]}`, version: "7"},
		"a broken object":  {body: `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":5}]}`, version: "7"},
		"protobuf":         {body: encoded.String(), version: "7"},
		"no version":       {body: `{"kind":"PodList","apiVersion":"v1","items":[]}`},
		"no items":         {body: `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"}}`, version: "7"},
		"nothing":          {body: `{}`, fails: true},
		"a page of a site": {body: `<html>`, fails: true},
		"protobuf: status": {body: status.String(), fails: true},
		"a status":         {body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Gone","code":410}`, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			var accepts []string
			config := &rest.Config{Host: "http://server", QPS: -1, Transport: reflector.Wire(round(func(r *http.Request) (*http.Response, error) {
				accepts = append(accepts, r.Header.Get("Accept"))
				kind := runtime.ContentTypeJSON
				if strings.HasPrefix(name, "protobuf") {
					kind = runtime.ContentTypeProtobuf
				}
				return &http.Response{
					StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
					Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(row.body)),
				}, nil
			}))}
			for _, source := range []reflector.Source{
				podSource(kubernetes.NewForConfigOrDie(config), ""),
				reflector.FromDynamic(dynamic.NewForConfigOrDie(config), podResource, ""),
			} {
				version, err := reflector.Newest(t.Context(), source)
				require.Equal(t, row.fails, err != nil, "%v", err)
				require.Equal(t, row.version, version)
			}
			require.Contains(t, accepts[0], "as=PartialObjectMetadataList")
		})
	}
}

func TestNewestEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		hangs := listing(func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			<-over
			return &corev1.PodList{}, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := reflector.Newest(ctx, hangs)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		close(over)
	})
}

// versions is a sink that keeps the version of its last bookmark.
type versions chan string

func (versions) Begin(context.Context, reflector.History) error { return nil }
func (versions) Commit(context.Context, string) error           { return nil }
func (versions) Abort(context.Context) error                    { return nil }

func (v versions) Write(_ context.Context, batch []deltafifo.Delta) error {
	for i := range batch {
		if batch[i].Op == deltafifo.Bookmark {
			v <- batch[i].Version
		}
	}
	return nil
}

// goes runs a reflector, and returns a function that ends it.
func goes(t *testing.T, r *reflector.Reflector) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	synctest.Wait()
	return func() {
		cancel()
		require.NoError(t, <-done)
	}
}

// On a resource in which nothing changes, a bookmark that was asked for comes within two seconds, from one
// more watch; and the watch after that has the usual timeout again.
func TestAskForBookmark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := informertest.New(informertest.Options{})
		defer server.Close()
		var watches []int64
		source := server.Source(corev1.SchemeGroupVersion.WithResource("pods"), "")
		source.Tweak = func(o *metav1.ListOptions) {
			if o.TimeoutSeconds != nil && o.SendInitialEvents == nil {
				watches = append(watches, *o.TimeoutSeconds)
			}
		}
		sink := make(versions, 100)
		r := reflector.New(source, sink, reflector.Options{})
		defer goes(t, r)()
		require.Empty(t, watches, "the stream goes on as the first watch")

		for want := range 3 {
			require.NoError(t, server.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "c-"}}))
			list, err := source.List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			began := time.Now()
			for range 10 {
				r.AskForBookmark()
			}
			require.Equal(t, list.(*corev1.PodList).ResourceVersion, <-sink)
			require.LessOrEqual(t, time.Since(began), 2*time.Second)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			require.Len(t, watches, 2*want+2, "a brief watch, and one that lasts")
			require.EqualValues(t, 3, watches[2*want])
			require.GreaterOrEqual(t, watches[2*want+1], int64(300))
		}
		r.AskForBookmark()
		synctest.Wait()
		time.Sleep(time.Second)
		r.AskForBookmark()
		synctest.Wait()
		require.Len(t, watches, 7, "not again within two seconds")
		<-sink
		time.Sleep(time.Second)
		r.AskForBookmark()
		synctest.Wait()
		require.Equal(t, []int64{3, 3}, watches[6:], "the brief watch is still open, and has brought its bookmark")
		<-sink
	})
}

// If the watch is late by more than the two seconds after which a bookmark may be asked for again, the watch that
// is to bring the bookmark goes on.
func TestAskForBookmarkOfALateWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := informertest.New(informertest.Options{})
		defer server.Close()
		brief := 0
		source := server.Source(corev1.SchemeGroupVersion.WithResource("pods"), "")
		source.Tweak = func(o *metav1.ListOptions) {
			if o.TimeoutSeconds != nil && *o.TimeoutSeconds == 3 {
				brief++
			}
		}
		sink := make(versions, 100)
		r := reflector.New(source, sink, reflector.Options{})
		defer goes(t, r)()
		require.NoError(t, server.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "c-"}}))
		list, err := source.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		resume := server.Stall(informertest.Request{Verb: "watch", Resource: "pods"})
		for range 3 {
			r.AskForBookmark()
			synctest.Wait()
			time.Sleep(6 * time.Second)
		}
		require.Equal(t, 1, brief)
		resume()
		require.Equal(t, list.(*corev1.PodList).ResourceVersion, <-sink)
		require.Equal(t, 1, brief)
	})
}

// late returns a source whose watches bring all that they bring a minute late, as behind a busy proxy. It refuses
// streams.
func late(s reflector.Source) reflector.Source {
	inner := s
	s.Watch = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		return watchLate(ctx, inner, o)
	}
	return s
}

func watchLate(ctx context.Context, inner reflector.Source, o metav1.ListOptions) (watch.Interface, error) {
	if o.SendInitialEvents != nil {
		return nil, errStreamRefused
	}
	w, err := inner.Watch(ctx, o)
	if err != nil {
		return nil, err
	}
	type sent struct {
		at time.Time
		watch.Event
	}
	wire, brought := make(chan sent, 100), make(chan watch.Event)
	on := watch.NewProxyWatcher(brought)
	go func() {
		defer close(wire)
		for e := range w.ResultChan() {
			wire <- sent{time.Now(), e}
		}
	}()
	go func() {
		defer close(brought)
		defer w.Stop()
		for e := range wire {
			select {
			case <-time.After(time.Until(e.at.Add(time.Minute))):
			case <-on.StopChan():
				return
			}
			select {
			case brought <- e.Event:
			case <-on.StopChan():
				return
			}
		}
	}()
	select {
	case <-time.After(time.Minute):
		return on, nil
	case <-ctx.Done():
		on.Stop()
		return nil, ctx.Err()
	}
}

// A watch that is much later than a brief one may be still brings its changes and its bookmarks, however often
// somebody asks: after a brief watch that has brought nothing, the next one is waited for as after an outage.
func TestAskForBookmarkOfAVeryLateWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := informertest.New(informertest.Options{})
		defer server.Close()
		pods := server.Source(corev1.SchemeGroupVersion.WithResource("pods"), "")
		sink := make(versions, 100)
		r := reflector.New(late(pods), sink, reflector.Options{})
		defer goes(t, r)()
		require.NoError(t, server.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "c-"}}))
		list, err := pods.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		for began := time.Now(); len(sink) == 0; {
			require.Less(t, time.Since(began), 4*time.Minute)
			r.AskForBookmark()
			time.Sleep(2 * time.Second)
		}
		require.Equal(t, list.(*corev1.PodList).ResourceVersion, <-sink)
	})
}
