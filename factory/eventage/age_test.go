package eventage

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

var canary = indexer.Key{Namespace: "monitoring", Name: "canary"}

// cluster is a server in memory, a client, and a running informer of its config maps.
type cluster struct {
	*informertest.Server
	client   kubernetes.Interface
	informer *informer.Informer[*corev1.ConfigMap]
}

func newCluster(t *testing.T) cluster {
	t.Helper()
	server := informertest.New(informertest.Options{BookmarkInterval: time.Minute})
	require.NoError(t, server.StartInMemory())
	t.Cleanup(server.Close)
	require.NoError(t, server.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: canary.Namespace, Name: canary.Name}}))
	client, err := kubernetes.NewForConfig(server.ClientConfig())
	require.NoError(t, err)
	i := informer.New(server.Source(corev1.SchemeGroupVersion.WithResource("configmaps"), ""), informer.Options[*corev1.ConfigMap]{})
	ctx, stop := context.WithCancel(context.Background())
	wait, err := i.Start(ctx)
	require.NoError(t, err)
	t.Cleanup(func() { stop(); wait() })
	require.NoError(t, i.WaitSynced(t.Context()))
	return cluster{server, client, i}
}

// handle adds a handler that takes so long for each change.
func (c cluster) handle(t *testing.T, name string, takes time.Duration) {
	t.Helper()
	_, err := c.informer.Handle(informer.HandlerFunc[*corev1.ConfigMap](func(change informer.Change[*corev1.ConfigMap]) {
		if !change.Initial {
			time.Sleep(takes)
		}
	}), informer.HandlerOptions{Name: name})
	require.NoError(t, err)
}

// touch changes the canary some time after it is called.
func (c cluster) touch(after time.Duration) func(context.Context) (string, error) {
	touch := Touch(c.client.CoreV1().ConfigMaps(canary.Namespace), canary.Name)
	return func(ctx context.Context) (string, error) {
		time.Sleep(after)
		return touch(ctx)
	}
}

func (c cluster) current() func(context.Context) (string, error) {
	return CurrentVersion(c.client.CoreV1().ConfigMaps(""))
}

// In a bubble time passes only while goroutines sleep, so the bounds are exact.
func TestCanary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.handle(t, "quick", 0)
		c.handle(t, "slow", time.Minute)
		synctest.Wait()

		age, err := Canary(t.Context(), c.informer.Inspector(), canary, c.touch(3*time.Second))
		require.NoError(t, err)
		require.Equal(t, Bounds{0, 3 * time.Second}, age.Store)
		require.Equal(t, []HandlerAge{
			{"quick", Bounds{0, 3 * time.Second}},
			{"slow", Bounds{time.Minute, time.Minute + 3*time.Second}},
		}, age.Handlers)
		stored, _ := c.informer.Indexer().Get(canary)
		require.Equal(t, stored.ResourceVersion, age.Version)
		require.NotEmpty(t, stored.Annotations[CanaryAnnotation])
	})
}

// The age in the store is the time for which the server holds the change back.
func TestCanaryOfAServerThatIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		resume := c.Stall(informertest.Request{Verb: "watch"})
		time.AfterFunc(20*time.Second, resume)
		age, err := Canary(t.Context(), c.informer.Inspector(), canary, c.touch(0))
		require.NoError(t, err)
		require.Equal(t, Bounds{20 * time.Second, 20 * time.Second}, age.Store)
	})
}

// An event that is not newer than the question says nothing, nor does a bookmark.
func TestUpperBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.handle(t, "slow", 5*time.Second)
		synctest.Wait()
		go func() {
			time.Sleep(150 * time.Second) // two bookmarks come meanwhile
			_, _ = c.touch(0)(t.Context())
		}()
		age, err := UpperBound(t.Context(), c.informer.Inspector(), c.current())
		require.NoError(t, err)
		require.Equal(t, Bounds{AtMost: 150 * time.Second}, age.Store)
		require.Equal(t, []HandlerAge{{"slow", Bounds{AtMost: 155 * time.Second}}}, age.Handlers)
	})
}

// A change found by a list after an outage counts like a change from a watch.
func TestUpperBoundByAFullState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		current := c.current()
		age, err := UpperBound(t.Context(), c.informer.Inspector(), func(ctx context.Context) (string, error) {
			version, err := current(ctx)
			allow := c.Forbid(informertest.Request{Verb: "watch"})
			c.CutWatches()
			synctest.Wait()
			_, writeErr := c.touch(0)(ctx)
			c.Compact()
			allow()
			return version, errors.Join(err, writeErr)
		})
		require.NoError(t, err)
		require.NotEmpty(t, age.Version)
		require.Less(t, age.Store.AtMost, time.Minute)
	})
}

func TestNothingCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		age, err := UpperBound(ctx, c.informer.Inspector(), c.current())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "no such event has come")
		require.Zero(t, age)
	})
}

// The result has the store's age, and names the handler that is stuck.
func TestAStuckHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.handle(t, "stuck", time.Hour)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		age, err := Canary(ctx, c.informer.Inspector(), canary, c.touch(time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, `handler "stuck"`)
		require.Equal(t, Bounds{0, time.Second}, age.Store)
		require.Empty(t, age.Handlers)
		time.Sleep(2 * time.Hour)
	})
}

func TestErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		broken := errors.New("broken")
		inspector := c.informer.Inspector()
		_, err := UpperBound(t.Context(), inspector, func(context.Context) (string, error) { return "", broken })
		require.ErrorIs(t, err, broken)
		_, err = UpperBound(t.Context(), inspector, func(context.Context) (string, error) { return "", nil })
		require.ErrorIs(t, err, ErrNoVersion)
		_, err = Canary(t.Context(), inspector, canary, func(context.Context) (string, error) { return "", nil })
		require.ErrorIs(t, err, ErrNoVersion)
		_, err = Canary(t.Context(), inspector, canary, Touch(c.client.CoreV1().ConfigMaps(canary.Namespace), "another"))
		require.ErrorContains(t, err, `configmaps "another" not found`)
	})
}
