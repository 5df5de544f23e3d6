package informer_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// An audit finds each way in which a store can differ, and nothing else.
func TestContract_D34_AuditFindsEachDifference(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet})
		defer k.start(i)()
		a, err := i.Audit(t.Context())
		require.NoError(t, err)
		require.Equal(t, informer.Audit{Version: i.Indexer().Version(), Objects: 3}, a)

		store := i.Shared().GetStore()
		stored := func(name string) *corev1.Pod {
			p, ok := i.Indexer().Get(indexer.Key{Namespace: "default", Name: name})
			require.True(t, ok)
			return p.DeepCopy()
		}
		b := stored("b")
		require.NoError(t, store.Delete(stored("a")))
		require.NoError(t, store.Add(podIn("default", "by-hand")))
		b.ResourceVersion = "1"
		require.NoError(t, store.Update(b))
		c := stored("c")
		c.UID = "another"
		require.NoError(t, store.Update(c))
		a, err = i.Audit(t.Context())
		require.NoError(t, err)
		server := func(name string) string {
			var p corev1.Pod
			require.NoError(t, k.server.Get(t.Context(), "default", name, &p))
			return p.ResourceVersion
		}
		key := func(name string) indexer.Key { return indexer.Key{Namespace: "default", Name: name} }
		require.Equal(t, informer.Audit{
			Version: i.Indexer().Version(), Objects: 4, Different: 4,
			Differences: []informer.Difference{
				{Key: key("a"), Kind: informer.Missing, Server: server("a")},
				{Key: key("b"), Kind: informer.Other, Stored: "1", Server: server("b")},
				{Key: key("by-hand"), Kind: informer.Extra},
				{Key: key("c"), Kind: informer.Other, Stored: server("c"), Server: server("c")},
			},
		}, a)
		require.Equal(t, "missing extra other unknown", fmt.Sprint(informer.Missing, " ", informer.Extra, " ", informer.Other, " ", informer.DifferenceKind(9)))
	})
}

// Changes during an audit are no differences, in a store of several pages and several sources.
func TestContract_D34_AuditOfABusyStore(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		for n := range 1200 {
			require.NoError(t, k.server.Create(t.Context(), podIn([]string{"default", "other"}[n%2], fmt.Sprint("pod-", n))))
		}
		one := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet})
		joined := informer.Join([]reflector.Source{k.source("default"), k.source("other")}, informer.Options[*corev1.Pod]{Observe: quiet})
		defer k.start(one)()
		defer k.start(joined)()

		n := 0
		k.server.Intercept(func(ctx context.Context, r informertest.Request) error {
			if r.Verb != "list" {
				return nil
			}
			for range 50 { // before each page
				n++
				name := fmt.Sprint("pod-", n%1200)
				if n%3 == 0 {
					_ = k.server.Delete(ctx, podIn([]string{"default", "other"}[n%2], name))
				} else {
					_ = k.server.Create(ctx, podIn([]string{"default", "other"}[n%2], "new-"+name))
				}
			}
			time.Sleep(time.Second)
			return nil
		})
		for range 5 {
			for _, i := range []*informer.Informer[*corev1.Pod]{one, joined} {
				a, err := i.Audit(t.Context())
				require.NoError(t, err)
				require.Empty(t, a.Differences)
				require.Greater(t, a.Objects, 1000)
			}
		}
	})
}

// An audit whose version expires begins anew, three times at most.
func TestContract_D34_AuditOfAnExpiredVersion(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet})
		defer k.start(i)()
		var expires atomic.Int32
		k.server.Intercept(func(ctx context.Context, r informertest.Request) error {
			if r.Verb == "list" && expires.Add(-1) >= 0 {
				require.NoError(t, k.server.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "new-"}}))
				k.server.Compact()
				time.Sleep(time.Second) // the watch brings the pod, so the next attempt has its version
			}
			return nil
		})
		expires.Store(2)
		a, err := i.Audit(t.Context())
		require.NoError(t, err)
		require.Empty(t, a.Differences)
		expires.Store(3)
		_, err = i.Audit(t.Context())
		require.True(t, apierrors.IsResourceExpired(err), "%v", err)
	})
}

// A store that cannot be compared gets an error with the reason.
func TestContract_D34_NoAudit(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		rewritten := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet, Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			p.Name += "-stored"
			return p, nil
		}})
		faked := informer.New(reflector.From(fake.NewClientset().CoreV1().Pods("")), informer.Options[*corev1.Pod]{Observe: quiet})
		for name, i := range map[string]*informer.Informer[*corev1.Pod]{"the transform": rewritten, "version": faked} {
			stop := k.start(i)
			_, err := i.Audit(t.Context())
			require.ErrorIs(t, err, informer.ErrNoAudit)
			require.ErrorContains(t, err, name)
			stop()
		}
		idle := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := idle.Audit(ctx)
		require.ErrorIs(t, err, informer.ErrNotSynced)
	})
}
