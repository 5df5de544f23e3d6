package factory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// ward is a source of nothing whose lists take as long as they are told to. It knows how
// many are under way at once.
type ward struct {
	list func(ctx context.Context, namespace string) error

	mu             sync.Mutex
	now, most, all int
}

func (w *ward) enters(by int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now += by
	w.all += max(0, by)
	w.most = max(w.most, w.now)
}

// counts returns how many lists are under way, were at most, and have been in all.
func (w *ward) counts() [3]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return [3]int{w.now, w.most, w.all}
}

type bed struct {
	*ward
	namespace string
}

func (b bed) List(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	b.enters(1)
	defer b.enters(-1)
	if err := b.list(ctx, b.namespace); err != nil {
		return nil, err
	}
	return &widgetList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
}

func (b bed) Watch(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
	return watch.NewFake(), nil
}

func (bed) Streaming() reflector.Streaming { return reflector.StreamingUnsupported }

// lasts is a list that takes a time.
func lasts(d time.Duration) func(context.Context, string) error {
	return func(ctx context.Context, _ string) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// newWard starts a factory with leases on so many informers of a ward.
func newWard(t *testing.T, ctx context.Context, w *ward, informers int, options ...Option) (f *Factory, leases []*Lease[*widget]) {
	t.Helper()
	f = NewSharedInformerFactoryWithOptions(nil, 0, options...)
	require.NoError(t, Register[*widget](f, Resource{GVR: widgetResource, Namespaced: true, Source: func(namespace string) reflector.Source {
		return bed{w, namespace}
	}}))
	for i := range informers {
		leases = append(leases, acquire(t, f, Scope{Namespaces: []string{fmt.Sprintf("n%02d", i)}}))
	}
	begin(t, ctx, f)
	return f, leases
}

// Of many kinds that are started at once, some read their first state at a time.
func TestConcurrentLists(t *testing.T) {
	for name, test := range map[string]struct {
		options []Option
		most    int
		took    time.Duration
	}{
		"8 by default": {nil, 8, 3 * time.Second},
		"2":            {[]Option{WithConcurrentLists(2)}, 2, 10 * time.Second},
		"no bound":     {[]Option{WithConcurrentLists(0)}, 20, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context) {
				w := &ward{list: lasts(time.Second)}
				began := time.Now()
				_, leases := newWard(t, ctx, w, 20, test.options...)
				require.Equal(t, [3]int{test.most, test.most, test.most}, w.counts())
				for _, l := range leases {
					require.NoError(t, l.Informer().WaitSynced(ctx))
				}
				require.Equal(t, [3]int{0, test.most, 20}, w.counts())
				require.Equal(t, test.took, time.Since(began))
			})
		})
	}
}

// Several sources of one informer count each.
func TestConcurrentListsOfOneInformer(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		w := &ward{list: lasts(time.Second)}
		f, _ := newWard(t, ctx, w, 0, WithConcurrentLists(2))
		l := acquire(t, f, Scope{Namespaces: []string{"a", "b", "c", "d", "e"}})
		require.NoError(t, l.WaitFresh(ctx))
		require.Equal(t, [3]int{0, 2, 5}, w.counts())
	})
}

// A kind that is forbidden keeps nobody waiting, and one that hangs for 10 s.
func TestConcurrentListsWaitForNobody(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		w := &ward{list: func(_ context.Context, namespace string) error {
			if namespace < "n16" {
				return apierrors.NewForbidden(widgetResource.GroupResource(), "", errors.New("you may not"))
			}
			return nil
		}}
		began := time.Now()
		_, leases := newWard(t, ctx, w, 18, WithConcurrentLists(2))
		for _, l := range leases[16:] {
			require.NoError(t, l.Informer().WaitSynced(ctx))
		}
		require.Zero(t, time.Since(began))
	})
	bubble(t, func(t *testing.T, ctx context.Context) {
		w := &ward{list: func(ctx context.Context, namespace string) error {
			if namespace < "n02" {
				<-ctx.Done()
			}
			return ctx.Err()
		}}
		began := time.Now()
		_, leases := newWard(t, ctx, w, 10, WithConcurrentLists(1))
		for _, l := range leases[2:] {
			require.NoError(t, l.Informer().WaitSynced(ctx))
		}
		require.LessOrEqual(t, time.Since(began), 2*patience)
	})
}

// Who stops while it waits for its turn, or reads, gives up its place.
func TestConcurrentListsOfWhoStops(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		w := &ward{list: lasts(time.Second)}
		f, leases := newWard(t, ctx, w, 20, WithConcurrentLists(2))
		began := time.Now()
		for _, l := range leases {
			l.Release()
		}
		synctest.Wait()
		for _, l := range leases {
			require.True(t, l.Informer().Status().Stopped)
		}
		require.Zero(t, time.Since(began), "nobody waits for a turn any more")
		for range 4 {
			l := acquire(t, f, Scope{})
			require.NoError(t, l.WaitFresh(ctx))
			l.Release()
			synctest.Wait()
		}
		require.Equal(t, 4*time.Second, time.Since(began))
	})
}

// Fakes answer at once, in the order in which they are asked.
func TestConcurrentListsOfFakes(t *testing.T) {
	config := &rest.Config{Host: "http://localhost"}
	require.Nil(t, NewSharedInformerFactory(fake.NewClientset(), 0).gate)
	require.Nil(t, NewDynamicSharedInformerFactory(dynamicfake.NewSimpleDynamicClient(scheme.Scheme), 0).gate)
	require.Nil(t, NewMetadataSharedInformerFactory(metadatafake.NewSimpleMetadataClient(withMeta(t)), 0).gate)
	require.Equal(t, defaultAtOnce, cap(NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0).gate))
	require.Equal(t, defaultAtOnce, cap(NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(config), 0).gate))
	f := NewMetadataSharedInformerFactory(metadata.NewForConfigOrDie(config), 0)
	require.Equal(t, defaultAtOnce, cap(f.gate))
	f.SetConcurrentLists(-1)
	require.Nil(t, f.gate)
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := NewSharedInformerFactoryWithOptions(fake.NewClientset(newPod("a", "p")), 0, WithConcurrentLists(1))
		pods, err := For[*corev1.Pod](f)
		require.NoError(t, err)
		f.Core().V1().Nodes().Informer()
		begin(t, ctx, f)
		require.NoError(t, pods.WaitSynced(ctx))
		require.Len(t, f.WaitForCacheSync(ctx.Done()), 2)
	})
}
