package factory

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/informer"
)

// Many goroutines acquire and release, start and end, and read. In the end every
// lease gets the current state, and no unused informer runs.
func TestAnythingAtOnce(t *testing.T) {
	for seed := range uint64(20) {
		bubble(t, func(t *testing.T, ctx context.Context) {
			server := newWidgetServer(t)
			require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
			f := newWidgetFactory(t, server)
			scopes := []Scope{{Labels: "color"}, {Labels: "color=red"}, {Namespaces: []string{"b", "a"}}}
			var users sync.WaitGroup
			for n := range uint64(6) {
				chance := rand.New(rand.NewPCG(seed, n))
				users.Go(func() { anything(t, ctx, f, scopes, chance) })
			}
			users.Wait()
			synctest.Wait()
			require.Zero(t, server.Watches(), "none is in use")
			f.StartWithContext(ctx)
			for _, s := range scopes {
				l := acquire(t, f, s)
				require.NoError(t, l.Informer().WaitFresh(ctx))
				require.Equal(t, []string{"a/one"}, names(l.Informer()))
				require.Empty(t, l.Informer().Status().Handlers)
			}
			f.Shutdown()
			require.Zero(t, server.Watches())
		})
	}
}

func anything(t *testing.T, ctx context.Context, f *Factory, scopes []Scope, chance *rand.Rand) {
	var ends []context.CancelFunc
	defer func() {
		for _, end := range ends {
			end()
		}
	}()
	for range 60 {
		scope := scopes[chance.IntN(len(scopes))]
		switch chance.IntN(6) {
		case 0:
			run, end := context.WithCancel(ctx)
			f.StartWithContext(run)
			if ends = append(ends, end); chance.IntN(2) == 0 {
				end()
			}
		case 1:
			for h := range f.Informers() {
				assert.GreaterOrEqual(t, h.Users, 0)
			}
		default:
			l, err := Acquire[*widget](f, scope)
			if !assert.NoError(t, err) {
				return
			}
			if _, err = l.Informer().Handle(&recorder[*widget]{}, informer.HandlerOptions{}); err != nil {
				assert.ErrorIs(t, err, informer.ErrStopped) // the context has just ended
			}
			if chance.IntN(2) == 0 {
				time.Sleep(time.Duration(chance.IntN(3)) * time.Millisecond)
			}
			l.Release()
		}
	}
}
