package reflector

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const endOfInitialState = `{"type":"BOOKMARK","object":{"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"9",` +
	`"annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"

// Items of an initial state that come one by one are handed over together. The bookmark at its end
// is handed over at once, and so are all later events.
func TestItemsOfAnInitialStateAreGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, server := io.Pipe()
		kind := newKindDecoder(objectKind{object: typeOfPod}, sharing{}, nil)
		r := startReception(&reception{ctx: t.Context(), body: body, kind: kind, initial: true}, false)
		send := func(text string) {
			_, err := io.WriteString(server, text)
			require.NoError(t, err)
			synctest.Wait()
		}
		taken := func() int {
			select {
			case batch := <-r.batches:
				return len(batch)
			default:
				return 0
			}
		}
		item := podEvent("ADDED", podText("a", "1", ""))

		send(item)
		require.Equal(t, 1, taken(), "the first: nobody waits for a second")
		send(item)
		send(item)
		require.Zero(t, taken())
		time.Sleep(gatherFor)
		send(item)
		require.Equal(t, 3, taken())
		send(item)
		send(endOfInitialState)
		require.Equal(t, 2, taken(), "the end waits for nothing")
		send(item)
		require.Equal(t, 1, taken(), "an event of the watch")

		require.NoError(t, server.Close())
		synctest.Wait()
		require.Zero(t, taken())
		require.NoError(t, r.err)
	})
}

// Gathered items are handed over when the body ends.
func TestGatheredItemsAreNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := strings.Repeat(podEvent("ADDED", podText("a", "1", "")), 3)
		kind := newKindDecoder(objectKind{object: typeOfPod}, sharing{}, nil)
		body := io.NopCloser(iotest.OneByteReader(strings.NewReader(text)))
		r := startReception(&reception{ctx: t.Context(), body: body, kind: kind, initial: true}, false)
		n := 0
		for batch := range r.batches {
			n += len(batch)
		}
		require.Equal(t, 3, n)
	})
}
