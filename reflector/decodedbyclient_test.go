package reflector

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/keeper"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/pack"
)

// packer is a follower whose taker packs no objects.
type packer struct {
	*follower
	keeper.Sink
}

func (p packer) Connect(keeper.Reflector) keeper.Form              { return keeper.Form{Packs: p} }
func (packer) Recall(object.Identity) (any, bool)                  { return nil, false }
func (packer) Reuse([]deltafifo.Delta)                             {}
func (packer) Take(any, []byte, pack.Form) any                     { return nil }
func (packer) TakeUndecoded(string, string, []byte, pack.Form) any { return nil }

// A watch whose connection breaks before the answer is no answer that the client has decoded.
func TestABrokenConnectionIsNotDecodedByTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := onePod()
		watch := server.watch
		server.watch = func(n int, w http.ResponseWriter, r *http.Request) {
			if n < 25 {
				panic(http.ErrAbortHandler)
			}
			watch(n, w, r)
		}
		c := clients["dynamic"]
		f := &follower{t: t, looked: make(chan struct{}, 1), stored: map[indexer.Key]string{}}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- New(c.source(t, server.servePiped(t, false)), packer{follower: f}, Options{
				Name: "pods", Type: c.object, Observe: func(e Event) { f.change(func() { f.events = append(f.events, e) }) },
			}).Run(ctx)
		}()
		time.Sleep(time.Hour)
		cancel()
		require.NoError(t, <-ended)
		require.Equal(t, "6", f.stored[keyOf("a")])
		require.Empty(t, eventsOf[ClientDecoded](f), "Wire is in the transport")
	})
}
