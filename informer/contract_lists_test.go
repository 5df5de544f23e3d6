package informer_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// synced is an informer of any type.
type synced interface {
	WaitSynced(ctx context.Context) error
	Status() informer.Status
}

// clients start informers over client-go's real clients: typed, dynamic and metadata.
var clients = map[string]func(*testing.T, *rest.Config) synced{
	"typed": func(t *testing.T, c *rest.Config) synced {
		client, err := kubernetes.NewForConfig(c)
		require.NoError(t, err)
		return begun(t, informer.New(reflector.From(client.CoreV1().Pods("")), informer.Options[*corev1.Pod]{Observe: rig.Observed}))
	},
	"typed, read here": func(t *testing.T, c *rest.Config) synced {
		c.Wrap(reflector.Wire)
		client, err := kubernetes.NewForConfig(c)
		require.NoError(t, err)
		return begun(t, informer.New(reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), podResource), informer.Options[*corev1.Pod]{Observe: rig.Observed}))
	},
	"dynamic": func(t *testing.T, c *rest.Config) synced {
		client, err := dynamic.NewForConfig(c)
		require.NoError(t, err)
		return begun(t, informer.New(reflector.From(client.Resource(podResource)), informer.Options[*unstructured.Unstructured]{Observe: rig.Observed}))
	},
	"metadata": func(t *testing.T, c *rest.Config) synced {
		client, err := metadata.NewForConfig(c)
		require.NoError(t, err)
		return begun(t, informer.New(reflector.From(client.Resource(podResource)), informer.Options[*metav1.PartialObjectMetadata]{Observe: rig.Observed}))
	},
}

var podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

func begun[T informer.Object](t *testing.T, i *informer.Informer[T]) synced {
	rig.Start(t, i)
	return i
}

// listing returns a transport that answers lists with body, refuses streams, and ends watches at
// once.
func listing(contentType, body string) *answers {
	return &answers{answer: func(r *http.Request) *http.Response {
		switch {
		case r.URL.Query().Get("sendInitialEvents") != "":
			return says(400, "")
		case r.URL.Query().Get("watch") != "":
			return says(200, "")
		}
		return says(200, body, "Content-Type", contentType)
	}}
}

func inProtobuf(t *testing.T, list runtime.Object) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(list, &b))
	return b.String()
}

// D26: lists of a server without versions are accepted, and a typed client makes an empty list of
// any object. Other answers are accepted only if they are lists.
func TestContract_D26_RealClientsOfAServerWithoutVersions(t *testing.T) {
	const inJSON = runtime.ContentTypeJSON
	all := slices.Collect(maps.Keys(clients))
	pods := &corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{*kit.Pod("a", "")}}
	for name, test := range map[string]struct {
		contentType, body string
		synced            []string // the clients that accept the answer as a list
	}{
		"objects":             {inJSON, `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}]}`, all},
		"none":                {inJSON, `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}`, all},
		"objects in protobuf": {runtime.ContentTypeProtobuf, inProtobuf(t, pods), []string{"typed", "typed, read here"}},
		"an empty object":     {inJSON, `{}`, []string{"typed", "typed, read here"}},
		"null":                {inJSON, `null`, []string{"typed"}},
		"another object":      {inJSON, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`, []string{"typed", "metadata"}},
		"a status":            {inJSON, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`, []string{"typed"}},
		"an error":            {inJSON, `{"error":"who are you?"}`, []string{"typed", "typed, read here"}},
	} {
		for kind, client := range clients {
			t.Run(name+"/"+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					i := client(t, &rest.Config{Host: "http://server", Transport: listing(test.contentType, test.body), QPS: -1})
					time.Sleep(time.Minute)
					require.Equal(t, slices.Contains(test.synced, kind), i.Status().Synced, "%v", i.Status().LastError)
				})
			})
		}
	}
}

// D14: of a listed object with two members metadata, the first one says whether the store has it. If the
// store does not, the object is what client-go makes of both.
func TestContract_D14_TwoMembersMetadata(t *testing.T) {
	metadata := func(name, version string) string {
		return fmt.Sprintf(`"metadata":{"name":%q,"uid":%q,"resourceVersion":%q}`, name, "uid of "+name, version)
	}
	for name, test := range map[string]struct{ first, stored string }{
		"the first is stored":     {metadata("a", "1"), "a@1"},
		"the first is not stored": {metadata("a", "2"), "c@3"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lists := []string{metadata("a", "1"), test.first + "," + metadata("c", "3")}
				server := &answers{answer: func(r *http.Request) *http.Response {
					switch {
					case r.URL.Query().Get("sendInitialEvents") != "":
						return says(400, "")
					case r.URL.Query().Get("watch") != "":
						time.Sleep(time.Second) // the store has the list
						return says(410, "")
					}
					items := lists[0]
					lists = lists[min(1, len(lists)-1):]
					return says(200, fmt.Sprintf(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[{"kind":"Pod","apiVersion":"v1",%s}]}`, items))
				}}
				client, err := dynamic.NewForConfig(&rest.Config{Host: "http://server", Transport: reflector.Wire(server), QPS: -1})
				require.NoError(t, err)
				i := informer.New(reflector.FromDynamic(client, podResource, ""), informer.Options[*unstructured.Unstructured]{Observe: rig.Observed})
				rig.Start(t, i)
				time.Sleep(10 * time.Second)
				require.NotZero(t, i.Status().Relists)
				for u := range i.Indexer().All() {
					require.Equal(t, test.stored, u.GetName()+"@"+u.GetResourceVersion())
				}
				require.Equal(t, 1, i.Indexer().Len())
			})
		})
	}
}
