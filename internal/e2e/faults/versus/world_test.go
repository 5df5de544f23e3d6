package versus

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
)

// seed is the seed of all generated clusters.
const seed = 37

// world is a control plane with the objects for the informers.
type world struct {
	b       *testing.B
	dir     string
	cluster *harness.Cluster
	proxy   *harness.Proxy
	client  dynamic.Interface
	made    *cluster.Cluster
	pod     func(i int) *corev1.Pod
	held    []cluster.Kind
	round   int // the number of the last round of updates
}

// newWorld starts the servers, the kube-apiserver with additional flags. The benchmark stops them.
func newWorld(b *testing.B, flags ...string) *world {
	w := &world{b: b, dir: b.TempDir()}
	var err error
	w.cluster, err = harness.Start(b.Context(), w.dir, harness.Options{Flags: flags})
	require.NoError(b, err)
	b.Cleanup(w.cluster.Kill)
	w.proxy, err = harness.NewProxy(w.cluster.Address())
	require.NoError(b, err)
	b.Cleanup(w.proxy.Close)
	config := w.cluster.Config()
	config.ContentConfig.ContentType, config.AcceptContentTypes = "", "" // custom resources are not served as protobuf
	w.client, err = dynamic.NewForConfig(config)
	require.NoError(b, err)
	return w
}

var podResource = corev1.SchemeGroupVersion.WithResource("pods")

// holdPods fills the world with pods.
func (w *world) holdPods(n int, pod func(*cluster.Cluster) func(i int) *corev1.Pod) {
	w.made = cluster.New(seed, n)
	w.pod = pod(w.made)
	w.hold(cluster.Kind{Resource: podResource, Stored: "pods", Count: n, Make: func(i int) cluster.Object { return w.pod(i) }})
}

func varied(c *cluster.Cluster) func(int) *corev1.Pod { return c.Pod }
func unique(c *cluster.Cluster) func(int) *corev1.Pod { return c.Unique }

// holdDatabases fills the world with custom resources.
func (w *world) holdDatabases(n int) {
	crd := &unstructured.Unstructured{}
	require.NoError(w.b, yaml.Unmarshal(cluster.DatabaseCRD, &crd.Object))
	w.define(crd, cluster.Databases)
	w.made = cluster.New(seed, 0)
	w.hold(cluster.Kind{
		Resource: cluster.Databases, Stored: cluster.Databases.Group + "/" + cluster.Databases.Resource, Count: n,
		Make: func(i int) cluster.Object { return w.made.Database(i) },
	})
}

// hold writes objects into etcd, and waits until the kube-apiserver serves them.
func (w *world) hold(kinds ...cluster.Kind) {
	for _, k := range kinds {
		require.NoError(w.b, harness.Each(w.b.Context(), harness.Creators, k.Count, func(ctx context.Context, i int) error {
			return w.cluster.Store(ctx, k.Stored, k.Make(i))
		}))
	}
	w.held = kinds
	w.settle()
}

func (w *world) settle() {
	for _, k := range w.held {
		w.served(k.Resource)
	}
}

// served waits until the kube-apiserver answers requests for a resource from a cache that has caught up
// with etcd.
func (w *world) served(resource schema.GroupVersionResource) {
	var last error
	err := wait.PollUntilContextTimeout(w.b.Context(), 100*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		_, last = w.client.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
		return last == nil, nil
	})
	require.NoError(w.b, err, "%v is not served: %v", resource, last)
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// define creates the definition of a custom resource, and waits until the resource is served.
func (w *world) define(crd *unstructured.Unstructured, resource schema.GroupVersionResource) {
	_, err := w.client.Resource(definitions).Create(w.b.Context(), crd, metav1.CreateOptions{})
	require.NoError(w.b, err)
	w.served(resource)
}

// total returns the number of objects for the informers: the generated objects, and the few objects that
// the kube-apiserver makes.
func (w *world) total() (n int) {
	for _, k := range w.held {
		count, err := w.cluster.Count(w.b.Context(), k.Stored)
		require.NoError(w.b, err)
		n += count
	}
	return n
}

// nextRound returns the annotation for the next updates.
func (w *world) nextRound() string {
	w.round++
	return fmt.Sprint("round-", w.round)
}

// touch changes some pods, but not the annotation with the write time, because handlers would count it
// as latency.
func (w *world) touch(pods []int) (round string) {
	round = w.nextRound()
	require.NoError(w.b, harness.Each(w.b.Context(), writers, len(pods), func(ctx context.Context, i int) error {
		pod := w.pod(pods[i])
		pod.Annotations[roundAnnotation] = round
		return w.cluster.Store(ctx, "pods", pod)
	}))
	return round
}
