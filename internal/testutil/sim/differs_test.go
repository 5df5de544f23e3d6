package sim_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"

	tidecache "github.com/tidemark-k8s/tidemark/informer/cache"
)

// difference is a world in which tidemark intentionally differs from client-go, by a D statement of the
// contract. Both libraries play it.
type difference struct {
	statement string
	setup     setup
	early     func(d *twin) // before the informer starts; may be nil
	indexers  cache.Indexers
	transform cache.TransformFunc
	then      func(d *twin)
	clientgo  string
	tidemark  string
}

// put, sick, gone and op do a single step.
func (d *twin) put(name string)          { d.doStep(step{op: put, name: name}) }
func (d *twin) sick(name string)         { d.doStep(step{op: poison, name: name}) }
func (d *twin) gone(name string)         { d.doStep(step{op: remove, name: name}) }
func (d *twin) op(name operation, n int) { d.doStep(step{op: name, n: n}) }

// outage closes the watch and takes the server down. Then it makes changes, and compacts the history
// before the server comes back.
func (d *twin) outage(meanwhile func()) {
	d.down(true)
	d.op(cutWatches, 1)
	meanwhile()
	d.server.Compact()
	d.down(false)
	time.Sleep(time.Minute)
	synctest.Wait()
}

func frailTransform(obj any) (any, error) {
	if p, ok := obj.(*pod); ok && poisonous(p) {
		return nil, errFrail
	}
	return obj, nil
}

var differences = []difference{
	{
		statement: "D3, a list with an object on which the transform fails",
		setup:     setup{noStream: true}, // client-go silently omits the object of a streamed list (B72)
		early:     func(d *twin) { d.put("a/x"); d.sick("a/y") },
		transform: frailTransform,
		clientgo:  "all: [], synced false, errors reported",
		tidemark:  "a/x: is 1.1, added, initial true; all: [a/x@1.1], synced true, errors reported",
	},
	{
		statement: "D3, the delete of an object on which the transform fails",
		transform: frailTransform,
		then:      func(d *twin) { d.put("a/x"); d.sick("a/x"); d.gone("a/x") },
		clientgo:  "a/x: is 1.1, added, initial false; all: [a/x@1.1], synced true",
		tidemark:  "a/x: is 1.1, added, initial false, is gone, lost at 1.1; all: [], synced true, errors reported",
	},
	{
		statement: "D4, an index function that fails",
		indexers: cache.Indexers{"frail": func(obj any) ([]string, error) {
			if p := obj.(*pod); poisonous(p) {
				return nil, errors.New("on purpose")
			}
			return []string{"v"}, nil
		}},
		then: func(d *twin) { d.put("a/x"); d.sick("a/y") },
		// A panic here does not end the process: client-go does not deliver the object's event.
		clientgo: "a/x: is 1.1, added, initial false; all: [a/x@1.1 a/y@1.2], synced true",
		tidemark: "a/x: is 1.1, added, initial false; a/y: is 1.2, added, initial false; all: [a/x@1.1 a/y@1.2], synced true, errors reported",
	},
	{
		statement: "D10, an error event in a watch",
		then:      func(d *twin) { d.put("a/x"); d.op(watchError, 2); time.Sleep(time.Minute) },
		clientgo:  "a/x: is 1.1, added, initial false, is 1.1, updated from 1.1; all: [a/x@1.1], synced true",
		tidemark:  "a/x: is 1.1, added, initial false; all: [a/x@1.1], synced true, errors reported",
	},
	{
		statement: "D12, a stream that never ends its initial state",
		early: func(d *twin) {
			d.put("a/x")
			d.source.degrade(step{op: loseBookmarks})
		},
		clientgo: "all: [], synced false",
		tidemark: "a/x: is 1.1, added, initial true; all: [a/x@1.1], synced true, errors reported",
	},
	{
		statement: "D14, a relist of unchanged objects",
		then: func(d *twin) {
			d.put("a/x")
			d.outage(func() { d.put("a/y") })
		},
		clientgo: "a/x: is 1.1, added, initial false, is 1.1, updated from 1.1; a/y: is 1.2, added, initial false; all: [a/x@1.1 a/y@1.2], synced true",
		tidemark: "a/x: is 1.1, added, initial false; a/y: is 1.2, added, initial false; all: [a/x@1.1 a/y@1.2], synced true, errors reported",
	},
	{
		statement: "D22, a half-open watch",
		then: func(d *twin) {
			d.put("a/x")
			d.op(halfOpen, 1)
			d.put("a/y")
			time.Sleep(settleTimeHalfOpen)
		},
		clientgo: "a/x: is 1.1, added, initial false; all: [a/x@1.1], synced true",
		tidemark: "a/x: is 1.1, added, initial false; a/y: is 1.2, added, initial false; all: [a/x@1.1 a/y@1.2], synced true, errors reported",
	},
	{
		statement: "D23, a restored server",
		then: func(d *twin) {
			d.put("a/x")
			d.put("a/y")
			d.put("a/y")
			d.down(true)
			changes := d.model.rollBack(2)
			d.serve()
			for _, c := range changes {
				d.send(c)
			}
			time.Sleep(time.Second)
			d.down(false)
			time.Sleep(settleTimeHalfOpen)
		},
		clientgo: "a/x: is 1.1, added, initial false; a/y: is 1.2, added, initial false, is 1.3, updated from 1.2; all: [a/x@1.1 a/y@1.3], synced true",
		tidemark: "a/x: is 1.1, added, initial false, is 2.1, updated from 1.1; a/y: is 1.2, added, initial false, is 1.3, updated from 1.2, is gone, lost at 1.3; all: [a/x@2.1], synced true, errors reported",
	},
	{
		// Through client-go's API both libraries deliver an update. Only typed handlers get a delete and
		// an add.
		statement: "D2, a recreated object in a list",
		then: func(d *twin) {
			d.put("a/x")
			d.outage(func() { d.gone("a/x"); d.put("a/x") })
		},
		clientgo: "a/x: is 1.1, added, initial false, is 1.3, updated from 1.1; all: [a/x@1.3], synced true",
		tidemark: "a/x: is 1.1, added, initial false, is 1.3, updated from 1.1; all: [a/x@1.3], synced true, errors reported",
	},
}

// client-go still differs as described, and this module behaves as the contract says.
func TestWhatClientgoDoesDifferently(t *testing.T) {
	for _, d := range differences {
		t.Run(d.statement, func(t *testing.T) {
			require.Equal(t, d.clientgo, shows(t, d, cache.NewSharedIndexInformer), "client-go")
			require.Equal(t, d.tidemark, shows(t, d, tidecache.NewSharedIndexInformer), "tidemark")
		})
	}
}

// shows plays the world with one implementation and returns the result.
func shows(t *testing.T, of difference, construct constructor) (line string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := plan{setup: of.setup}
		p.setup.namespaces, p.setup.names = 1, 10
		d := newTwin(t, p, construct, of.indexers, of.transform)
		d.recorders[0].again = true
		if of.early != nil {
			of.early(d)
		}
		d.start()
		time.Sleep(time.Minute)
		synctest.Wait()
		if of.then != nil {
			of.then(d)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		line = d.shown()
		d.end()
	})
	return line
}

func (d *twin) shown() string {
	var words []string
	recorded := d.recorders[0].take()
	for _, k := range slices.Sorted(maps.Keys(recorded)) {
		words = append(words, k+": "+strings.Join(recorded[k], ", "))
	}
	words = append(words, fmt.Sprintf("%s, synced %v", d.stored()[0], d.shared.HasSynced()))
	if d.errors > 0 {
		words[len(words)-1] += ", errors reported"
	}
	return strings.Join(words, "; ")
}
