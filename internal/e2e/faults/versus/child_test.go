package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
)

// A measured process, within this one: it tells when the handlers have seen all,
// and what the stores hold.
func TestChild(t *testing.T) {
	server := informertest.New(informertest.Options{})
	require.NoError(t, server.Start())
	t.Cleanup(server.Close)
	made := cluster.New(seed, 20)
	for i := range made.Pods() {
		pod := made.Pod(i)
		pod.UID = "" // the server's own
		require.NoError(t, server.Create(t.Context(), pod))
	}
	for _, tidemark := range []bool{false, true} {
		for _, fields := range []fields{kept, stripped, dropped} {
			t.Run(fmt.Sprint(tidemark, fields), func(t *testing.T) {
				profiles := t.TempDir()
				task := task{
					Tidemark: tidemark, Fields: fields, Handlers: 3, Host: server.ClientConfig().Host,
					CPUProfile: filepath.Join(profiles, "cpu"), MemProfile: filepath.Join(profiles, "mem"),
				}
				ask := runChild(t, task)
				require.Empty(t, ask(order{Begin: true}).Error)
				s := ask(order{Total: made.Pods()})
				require.Empty(t, s.Error)
				require.EqualValues(t, 3*made.Pods(), s.Calls)
				require.Equal(t, fields == stripped || tidemark && fields == dropped, s.Bare)
				require.NotZero(t, s.Heap)
				require.FileExists(t, task.CPUProfile)
				require.FileExists(t, task.MemProfile)

				require.Empty(t, ask(order{Begin: true}).Error)
				changed := made.Pod(7)
				changed.UID = ""
				changed.Annotations = map[string]string{roundAnnotation: t.Name(), sentAnnotation: fmt.Sprint(time.Now().UnixNano())}
				require.NoError(t, server.Update(t.Context(), changed))
				s = ask(order{Round: t.Name(), Pods: 1, Calls: 3, Total: made.Pods()})
				require.Empty(t, s.Error)
				require.Len(t, s.Latencies, 3)
				require.Len(t, s.Own, 3)
			})
		}
	}
}

// runChild returns how to give orders to a measured process.
func runChild(t *testing.T, of task) (ask func(order) sample) {
	text, err := json.Marshal(of)
	require.NoError(t, err)
	in, orders := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serve(t.Context(), string(text), in, out) }()
	t.Cleanup(func() {
		require.NoError(t, orders.Close())
		require.NoError(t, <-ended)
	})
	read := json.NewDecoder(answers)
	return func(o order) (s sample) {
		require.NoError(t, json.NewEncoder(orders).Encode(o))
		require.NoError(t, read.Decode(&s))
		return s
	}
}

func TestMetersTell(t *testing.T) {
	id := fmt.Sprint(os.Getpid())
	require.InEpsilon(t, peak(self), peak(id), 0.1)
	require.InDelta(t, cpuTime(), cpuTimeOf(id), float64(200*time.Millisecond))
	require.Zero(t, cpuTimeOf("none"))
	require.Zero(t, peak("none"))
}
