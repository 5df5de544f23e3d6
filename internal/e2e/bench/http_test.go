package bench

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// BenchmarkIdleHTTP measures the heap of 400 idle informers with few objects each, which read one server
// by HTTP/2. The server runs in the same process, and its heap counts for both libraries.
func BenchmarkIdleHTTP(b *testing.B) {
	const informers, pods = 400, 10
	server := streamServer{podList(pods)}.serve()
	defer server.Close()
	for name, contentType := range map[string]string{"protobuf": runtime.ContentTypeProtobuf, "json": runtime.ContentTypeJSON} {
		byEach(b, name, []string{clientgo, typed}, func(b *testing.B, impl string) {
			config := &rest.Config{Host: server.URL, QPS: -1, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, ContentConfig: rest.ContentConfig{ContentType: contentType}}
			through, err := rest.HTTPClientFor(config)
			require.NoError(b, err)
			defer through.CloseIdleConnections()
			client, err := kubernetes.NewForConfigAndClient(config, through)
			require.NoError(b, err)
			count(b, "B/informer", func() float64 {
				before := heapAtRest()
				all := make([]*started, informers)
				for i := range all {
					all[i] = start(b, newHTTPPods(impl, client, fmt.Sprint("team-", i)), newCounter(tally{adds: pods}))
					all[i].awaitAdds()
				}
				extra := heapAtRest() - before
				for _, s := range all {
					s.stop()
				}
				return extra / informers
			})
		})
	}
}

// newHTTPPods makes an informer of a namespace on a server.
func newHTTPPods(impl string, client kubernetes.Interface, namespace string) subject {
	if impl == typed {
		source := reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(namespace), corev1.SchemeGroupVersion.WithResource("pods"))
		return own[*corev1.Pod]{informer.New(source, informer.Options[*corev1.Pod]{Resource: schema.GroupResource{Resource: "pods"}})}
	}
	made := coreinformers.NewPodInformer(client, namespace, 0, cache.Indexers{})
	return shared{made, corelisters.NewPodLister(made.GetIndexer())}
}

// streamServer streams some pods, and then sends nothing more.
type streamServer struct{ pods *corev1.PodList }

func (s streamServer) serve() *httptest.Server {
	server := httptest.NewUnstartedServer(s)
	server.EnableHTTP2 = true
	server.StartTLS()
	return server
}

func (s streamServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("sendInitialEvents") != "true" {
		http.Error(w, "streams only", http.StatusBadRequest)
		return
	}
	mediaType := runtime.ContentTypeJSON
	if strings.HasPrefix(r.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
		mediaType = runtime.ContentTypeProtobuf
	}
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	w.Header().Set("Content-Type", mediaType)
	if mediaType == runtime.ContentTypeProtobuf {
		w.Header().Set("Content-Type", mediaType+";stream=watch")
	}
	to := streaming.NewEncoder(info.StreamSerializer.NewFrameWriter(w), info.StreamSerializer.Serializer)
	send := func(event watch.EventType, pod corev1.Pod) {
		pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		raw, err := runtime.Encode(info.Serializer, &pod)
		if err != nil {
			panic(err)
		}
		_ = to.Encode(&metav1.WatchEvent{Type: string(event), Object: runtime.RawExtension{Raw: raw}}) // the client may have disconnected
	}
	for _, pod := range s.pods.Items {
		send(watch.Added, pod)
	}
	send(watch.Bookmark, corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: s.pods.ResourceVersion, Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}})
	_ = http.NewResponseController(w).Flush() // as above
	<-r.Context().Done()
}
