package records

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// An identity belongs to one stored object: another object under the same key has none.
func TestAnIdentityIsOfAnObjectAndNotOfAKey(t *testing.T) {
	type uncomparable struct{ values []string }
	a, key := kit.Pod("a", "1"), key("a")
	var known ServerObjects
	known.Put(key, key, a, Identity{"uid", "7"})
	id, ok := known.Identity(key, a)
	require.True(t, ok)
	require.Equal(t, Identity{"uid", "7"}, id)
	for _, other := range []any{a.DeepCopy(), nil, uncomparable{values: []string{"x"}}} {
		_, ok := known.Identity(key, other)
		require.False(t, ok)
	}
	_, ok = known.Identity(indexer.Key{Name: "a"}, a)
	require.False(t, ok)
	known.Put(key, key, uncomparable{}, Identity{"uid", "7"})
	_, ok = known.Identity(key, uncomparable{})
	require.False(t, ok)
	known.Put(key, key, a, Identity{"uid-a", "1"})
	require.Empty(t, known.entries, "its metadata tell it")
}

// slowObject is what a server has said of an object, in the twin.
type slowObject struct {
	server, key indexer.Key
	stored      *corev1.Pod // nil if no version was ever put
	identity    Identity
	failed      bool
	at          string
	put         int // the number of its last put
}

// slowObjects is the twin of ServerObjects. It keeps every object, and the last put under each key.
type slowObjects struct {
	all  []slowObject
	last map[indexer.Key]int
}

func (s *slowObjects) find(server indexer.Key) *slowObject {
	for i := range s.all {
		if s.all[i].server == server {
			return &s.all[i]
		}
	}
	return nil
}

func (s *slowObjects) remove(server indexer.Key) {
	s.all = slices.DeleteFunc(s.all, func(r slowObject) bool { return r.server == server })
}

func (s *slowObjects) put(server, key indexer.Key, stored *corev1.Pod, id Identity, n int) {
	s.remove(server)
	s.add(slowObject{server: server, key: key, stored: stored, identity: id, put: n})
}

func (s *slowObjects) add(o slowObject) {
	if s.last == nil {
		s.last = map[indexer.Key]int{}
	}
	s.last[o.key] = o.put
	s.all = append(s.all, o)
}

func (s *slowObjects) fail(server indexer.Key, version string) {
	r := s.find(server)
	if r == nil {
		s.all = append(s.all, slowObject{server: server, key: server}) // which takes no key from another one
		r = s.find(server)
	}
	r.failed, r.at = true, version
}

// owner returns the object that was put last under a stored key, if it is still there.
func (s *slowObjects) owner(key indexer.Key) *slowObject {
	for i := range s.all {
		if r := &s.all[i]; r.key == key && r.stored != nil && r.put == s.last[key] {
			return r
		}
	}
	return nil
}

// objectTwins are the objects of a source, and their slow twin.
type objectTwins struct {
	t      *testing.T
	rand   *rand.Rand
	fast   ServerObjects
	slow   slowObjects
	serial int
}

// key returns the key of a name.
func key(name string) indexer.Key { return indexer.Key{Namespace: "default", Name: name} }

func (w *objectTwins) name() indexer.Key { return key(string(rune('a' + w.rand.IntN(6)))) }

func (w *objectTwins) step() {
	server := w.name()
	w.serial++
	switch w.rand.IntN(6) {
	case 0, 1, 2:
		key := server
		if w.rand.IntN(2) == 0 {
			key = w.name()
		}
		w.put(server, key)
	case 3, 4:
		w.fast.Fail(server, fmt.Sprint(w.serial))
		w.slow.fail(server, fmt.Sprint(w.serial))
	default:
		w.fast.Remove(server)
		w.slow.remove(server)
	}
}

// put stores an object, stripped of its identity or not.
func (w *objectTwins) put(server, key indexer.Key) {
	p := kit.Pod(key.Name, fmt.Sprint(w.serial))
	id := IdentityOf(p)
	if w.rand.IntN(3) == 0 {
		p.UID, p.ResourceVersion = "", ""
	}
	w.fast.Put(server, key, p, id)
	w.slow.put(server, key, p, id, w.serial)
}

// relist replaces the objects by those of a full state, in which some are listed again, some fail and
// some are gone.
func (w *objectTwins) relist() {
	was, before := w.slow, w.fast
	w.fast, w.slow = ServerObjects{}, slowObjects{}
	for _, r := range was.all {
		w.serial++
		switch w.rand.IntN(4) {
		case 0: // gone
		case 1:
			if owner := was.owner(r.key); owner != nil && owner.server == r.server {
				w.fast.Inherit(r.server, &before)
			} else {
				r = slowObject{server: r.server, key: r.server}
			}
			w.fast.Fail(r.server, fmt.Sprint(w.serial))
			r.failed, r.at = true, fmt.Sprint(w.serial)
			if r.put = w.serial; r.stored == nil {
				w.slow.all = append(w.slow.all, r)
			} else {
				w.slow.add(r)
			}
		default:
			w.put(r.server, r.key)
		}
	}
}

func (w *objectTwins) compare() {
	failures, exceptions := 0, 0
	for c := range 6 {
		server := key(string(rune('a' + c)))
		r := w.slow.find(server)
		if r == nil {
			r = &slowObject{server: server, key: server}
		}
		require.Equal(w.t, r.key, w.fast.Key(server))
		at, failed := w.fast.Failed(server)
		require.Equal(w.t, r.failed, failed)
		require.Equal(w.t, r.at, at)
		if r.failed {
			failures++
		}
		if r.failed || r.key != server || r.stored != nil && IdentityOf(r.stored) != r.identity {
			exceptions++
		}
		w.compareKey(server)
	}
	require.Equal(w.t, failures, w.fast.failures)
	require.LessOrEqual(w.t, len(w.fast.entries), exceptions, "an object without exception has no entry")
	require.LessOrEqual(w.t, len(w.fast.servers), len(w.fast.entries))
}

// compareKey compares what is said of the object under a stored key.
func (w *objectTwins) compareKey(key indexer.Key) {
	owner := w.slow.owner(key)
	if owner == nil {
		return
	}
	require.Equal(w.t, owner.server, w.fast.Server(key))
	id, ok := w.fast.Identity(key, owner.stored)
	if !ok {
		id = IdentityOf(owner.stored)
	}
	require.Equal(w.t, owner.identity, id)
}

func playObjects(t *testing.T, more func() bool, r *rand.Rand) {
	w := &objectTwins{t: t, rand: r}
	for more() {
		if r.IntN(30) == 0 {
			w.relist()
		} else {
			w.step()
		}
		w.compare()
	}
}

func TestServerObjectsAgainstTheirTwin(t *testing.T) {
	for seed := range uint64(30) {
		steps := 0
		playObjects(t, func() bool { steps++; return steps < 500 }, rand.New(rand.NewPCG(seed, 4))) //nolint:gosec // a test
	}
}

func FuzzServerObjects(f *testing.F) { chance.Fuzz(f, playObjects) }
