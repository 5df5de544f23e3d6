package bench

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/tidemark-k8s/tidemark/internal/jsondecode"
	"github.com/tidemark-k8s/tidemark/internal/protodecode"
	"github.com/tidemark-k8s/tidemark/shard"
)

// BenchmarkForeign measures an event outside of the process's share. tidemark reads its uid and version,
// and decides. client-go decodes it.
func BenchmarkForeign(b *testing.B) {
	for _, work := range []struct {
		name string
		make func() (decoding, error)
		read func(data []byte) (uid, version []byte, ok bool)
	}{
		{"protobuf", func() (decoding, error) { return inProtobuf(made().Pod) }, func(data []byte) (uid, version []byte, ok bool) {
			return protodecode.ReadMeta(data, 5)
		}},
		{"json", inOrder, func(data []byte) (uid, version []byte, ok bool) {
			return jsondecode.ReadMeta(data, "uid")
		}},
	} {
		of := sync.OnceValue(func() decoding {
			d, err := work.make()
			require.NoError(b, err)
			few := min(len(d.bodies), 64) // they stay in the CPU's caches, like bytes that were just read
			d.bodies, d.bare = d.bodies[:few], d.bare[:min(len(d.bare), few)]
			for i, data := range d.forOurs() {
				obj, err := d.theirs(d.bodies[i])
				require.NoError(b, err)
				m, err := meta.Accessor(obj)
				require.NoError(b, err)
				uid, version, ok := work.read(data)
				require.True(b, ok)
				require.Equal(b, []string{string(m.GetUID()), m.GetResourceVersion()}, []string{string(uid), string(version)})
			}
			return d
		})
		byEach(b, work.name, []string{clientgo, typed}, func(b *testing.B, impl string) {
			d := of()
			if impl == clientgo {
				measure(b, func() {
					for n := range b.N {
						_, err := d.theirs(d.bodies[n%len(d.bodies)])
						require.NoError(b, err)
					}
				})
				return
			}
			bodies, own := d.forOurs(), 0
			share, err := shard.Nth(shard.ByUID, 1, 4)
			require.NoError(b, err)
			measure(b, func() {
				for n := range b.N {
					uid, _, ok := work.read(bodies[n%len(bodies)])
					if ok && share.Has("", types.UID(unsafe.String(unsafe.SliceData(uid), len(uid)))) { // as in the reflector
						own++
					}
				}
			})
			require.Less(b, own, max(b.N, 2))
		})
	}
}

// inOrder returns custom resources as a server sends them: with sorted keys, so that the uid follows the
// managed fields.
func inOrder() (decoding, error) {
	d, err := asUnstructured()
	for i := range d.bodies {
		var object map[string]any
		if err == nil {
			err = utiljson.Unmarshal(d.bodies[i], &object)
		}
		if err == nil {
			d.bodies[i], err = utiljson.Marshal(object)
		}
	}
	return d, err
}
