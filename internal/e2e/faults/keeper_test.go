package faults

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// keeperEnv names a kubeconfig file in the environment of a keeper.
const keeperEnv = "TIDEMARK_E2E_KEEPER"

// kept is a keeper's report of its cache of configmaps. Bytes are live bytes of its heap, less those
// before the informer.
type kept struct {
	Objects     int
	Digest      string
	Lists       int
	Looks       int // the number of heap measurements until the informer was synced
	Peak, Final int // bytes: the highest measurement, and the heap of the synced informer
}

func (k kept) counts() (lists, streams, watches, relists int) { return k.Lists, 0, 0, 0 }

// keep is the main function of a keeper. It syncs an informer of all configmaps, and writes its report.
func keep(ctx context.Context, kubeconfig string, out io.Writer) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	source := reflector.FromGenerated[*corev1.ConfigMap](client.CoreV1().ConfigMaps("default"), corev1.SchemeGroupVersion.WithResource("configmaps"))
	var lists atomic.Int64
	i := informer.New[*corev1.ConfigMap](source, informer.Options[*corev1.ConfigMap]{Observe: func(e informer.Event) {
		if l, ok := e.(reflector.Listed); ok && l.Operation == reflector.OpList {
			lists.Add(1)
		}
	}})
	empty := liveHeap()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wait, err := i.Start(ctx)
	if err != nil {
		return err
	}
	peak, looks := highest(i.Synced())
	k := kept{Objects: i.Indexer().Len(), Lists: int(lists.Load()), Looks: looks, Peak: peak - empty, Final: liveHeap() - empty}
	k.Digest = digest(i.Indexer().Snapshot().List())
	cancel()
	if err := wait(); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(k)
}

// highest repeatedly measures the live heap until done is closed. It returns the highest measurement and
// the number of measurements.
func highest(done <-chan struct{}) (most, times int) {
	for {
		select {
		case <-done:
			return most, times
		default:
			most, times = max(most, liveHeap()), times+1
		}
	}
}

// liveHeap collects garbage and returns the remaining bytes.
func liveHeap() int {
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return int(live[0].Value.Uint64()) //nolint:gosec // a few gigabytes
}

// digest returns a hash of configmaps with their versions and data.
func digest(maps []*corev1.ConfigMap) string {
	slices.SortFunc(maps, func(a, b *corev1.ConfigMap) int { return cmp.Compare(a.Name, b.Name) })
	h := sha256.New()
	for _, m := range maps {
		_, _ = fmt.Fprintln(h, m.Name, m.UID, m.ResourceVersion, m.Data) // never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}
