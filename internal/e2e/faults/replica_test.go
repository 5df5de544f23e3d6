package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/audit"
	"github.com/tidemark-k8s/tidemark/internal/process"
	"github.com/tidemark-k8s/tidemark/shard"
)

// replicaEnv names a kubeconfig file in the environment of a replica, and shareEnv its share, such as
// 0/4.
const replicaEnv, shareEnv = "TIDEMARK_E2E_REPLICA", "TIDEMARK_E2E_SHARE"

// look orders a replica to report its content.
type look struct {
	Version string // the version of the last change in its share, which the replica waits for
	Fresh   bool   // the replica also waits until it is as new as the server
}

// reported is a replica's report.
type reported struct {
	Objects map[string]string // the UID and version of each pod, by its key
	Shard   struct {
		Foreign uint64
		Server  string
	}
	Relists     int
	Differences int           // the number of differences in an audit
	Fresh       time.Duration // how long WaitFresh took
	Error       string
}

// identityOf returns the key and the identity of a pod in a report.
func identityOf(namespace, name string, uid types.UID, version string) (key, identity string) {
	return namespace + "/" + name, string(uid) + " at " + version
}

// shareOf returns a share by UID.
func shareOf(nth string) (shard.Set, error) {
	index, total, err := shard.ParseNth(nth)
	if err != nil {
		return shard.Set{}, err
	}
	return shard.Nth(shard.ByUID, index, total)
}

// replicate is the main function of a replica. It reads its share of all pods, and reports until its
// input ends.
func replicate(ctx context.Context, kubeconfig string, out io.Writer) error {
	share, err := shareOf(os.Getenv(shareEnv))
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	i := informer.New[*corev1.Pod](podSource(client), informer.Options[*corev1.Pod]{Shard: shard.Static(share), Observe: func(informer.Event) {}})
	recorded := newView[*corev1.Pod]("every")
	if _, err := i.Handle(recorded, informer.HandlerOptions{}); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	wait, err := i.Start(ctx)
	if err != nil {
		return err
	}
	answers := json.NewEncoder(out)
	err = process.Serve(ctx, os.Stdin, func(ctx context.Context, o look) error {
		h, err := report(ctx, i, recorded, o)
		if err != nil {
			h.Error = err.Error()
		}
		return answers.Encode(h)
	})
	stop()
	if err != nil {
		return err
	}
	return wait()
}

// report returns the content of an informer when it and its handler have come to the version.
func report(ctx context.Context, i *informer.Informer[*corev1.Pod], recorded *view[*corev1.Pod], o look) (reported, error) {
	h := reported{Objects: map[string]string{}}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := i.WaitSynced(ctx); err != nil {
		return h, err
	}
	if err := i.WaitDelivered(ctx, o.Version); err != nil {
		return h, err
	}
	if began := time.Now(); o.Fresh {
		if err := i.WaitFresh(ctx); err != nil {
			return h, err
		}
		h.Fresh = time.Since(began)
		if err := i.WaitDelivered(ctx, i.Indexer().Version()); err != nil {
			return h, err
		}
	}
	if err := recorded.Differs(i.Indexer().All()); err != nil {
		return h, err
	}
	if problems := recorded.Problems(); len(problems) > 0 {
		return h, fmt.Errorf("handler: %v", problems[0])
	}
	for pod := range i.Indexer().All() {
		key, identity := identityOf(pod.Namespace, pod.Name, pod.UID, pod.ResourceVersion)
		h.Objects[key] = identity
	}
	found, err := audit.Of(ctx, i.Shared())
	s := i.Status()
	h.Differences, h.Relists = len(found.Differences), s.Relists
	h.Shard.Foreign, h.Shard.Server = s.Shard.Foreign, s.Shard.Server
	return h, err
}

// replicas are processes that share all pods.
type replicas struct {
	s      *scenario
	shares []shard.Set
	all    []*process.Child
}

// replicate starts n replicas that connect to an address.
func (s *scenario) replicate(n int, address string) *replicas {
	s.t.Helper()
	kubeconfig := filepath.Join(s.t.TempDir(), "kubeconfig")
	s.must(s.cluster.WriteKubeconfig(kubeconfig, address))
	r := &replicas{s: s}
	s.t.Cleanup(r.end)
	for i := range n {
		nth := fmt.Sprintf("%d/%d", i, n)
		share, err := shareOf(nth)
		s.must(err)
		child, err := process.Start(s.ctx, replicaEnv+"="+kubeconfig, shareEnv+"="+nth)
		s.must(err)
		r.shares, r.all = append(r.shares, share), append(r.all, child)
	}
	return r
}

// touch changes a pod in a share, and returns its version.
func (r *replicas) touch(share int) string {
	list, err := r.s.admin.CoreV1().Pods("").List(r.s.ctx, metav1.ListOptions{})
	r.s.must(err)
	for _, pod := range list.Items {
		if r.shares[share].Has(pod.Namespace, pod.UID) {
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"touched":%q}}}`, pod.ResourceVersion)
			touched, err := r.s.admin.CoreV1().Pods(pod.Namespace).Patch(r.s.ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
			r.s.must(err)
			return touched.ResourceVersion
		}
	}
	require.Fail(r.s.t, "the share has no pods", r.shares[share])
	return ""
}

// end stops the replicas, and waits until all have ended.
func (r *replicas) end() {
	for _, child := range r.all {
		child.End()
	}
	r.all = nil
}

// converge checks that the replicas together have the server's objects, and that each has exactly its
// share. It returns their reports. No writes may be in progress. At the end a pod of each share is
// changed, so that replicas need not wait for a bookmark. With fresh, they wait for one.
func (r *replicas) converge(fresh bool) (reports []reported) {
	t := r.s.t
	t.Helper()
	for i, child := range r.all {
		r.s.must(child.Send(look{Version: r.touch(i), Fresh: fresh}))
	}
	for _, child := range r.all {
		var h reported
		r.s.must(child.Receive(&h))
		require.Empty(t, h.Error)
		require.Zero(t, h.Differences, "an audit finds differences")
		reports = append(reports, h)
	}
	list, err := r.s.admin.CoreV1().Pods("").List(r.s.ctx, metav1.ListOptions{})
	r.s.must(err)
	all := 0
	for _, pod := range list.Items {
		key, identity := identityOf(pod.Namespace, pod.Name, pod.UID, pod.ResourceVersion)
		for i, share := range r.shares {
			got, ok := reports[i].Objects[key]
			require.Equal(t, share.Has(pod.Namespace, pod.UID), ok, "%s in replica %d of %d", key, i, len(r.all))
			if ok {
				require.Equal(t, identity, got, key)
				all++
			}
		}
	}
	require.Len(t, list.Items, all)
	for _, h := range reports {
		all -= len(h.Objects)
	}
	require.Zero(t, all, "the replicas have objects that the server does not have")
	return reports
}
