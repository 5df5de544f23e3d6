package records

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// key returns the key of a name.
func key(name string) indexer.Key { return indexer.Key{Namespace: "default", Name: name} }

// An identity belongs to one stored object: another object under the same key has none.
func TestAnIdentityIsOfAnObjectAndNotOfAKey(t *testing.T) {
	type uncomparable struct{ values []string }
	a, key := kit.Pod("a", "1"), key("a")
	var known Exceptions
	known.Put(key, a, Identity{"uid", "7"})
	id, ok := known.Identity(key, a)
	require.True(t, ok)
	require.Equal(t, Identity{"uid", "7"}, id)
	for _, other := range []any{a.DeepCopy(), nil, uncomparable{values: []string{"x"}}} {
		_, ok := known.Identity(key, other)
		require.False(t, ok)
	}
	_, ok = known.Identity(indexer.Key{Name: "a"}, a)
	require.False(t, ok)
	known.Put(key, uncomparable{}, Identity{"uid", "7"})
	_, ok = known.Identity(key, uncomparable{})
	require.False(t, ok)
	known.Put(key, a, Identity{"uid-a", "1"})
	require.Empty(t, known.identities, "its metadata tell it")
}

// said is what a server has said of an object, in the twin.
type said struct {
	stored   *corev1.Pod // nil if no version was ever put
	identity Identity
	failed   bool
}

// exceptionTwins are the exceptions of a source, and their slow twin, which keeps every object.
type exceptionTwins struct {
	t          *testing.T
	rand       *rand.Rand
	quarantine Quarantine
	fast       Exceptions
	slow       map[indexer.Key]said
	serial     int
}

func (w *exceptionTwins) step() {
	key := key(string(rune('a' + w.rand.IntN(6))))
	w.serial++
	switch w.rand.IntN(6) {
	case 0, 1, 2:
		w.slow[key] = w.put(&w.fast, key)
	case 3, 4:
		w.slow[key] = w.fail(&w.fast, key, w.slow[key])
	default:
		w.fast.Forget(key)
		w.quarantine.Leave(&w.fast, key)
		delete(w.slow, key)
	}
}

// put stores an object, stripped of its identity or not.
func (w *exceptionTwins) put(in *Exceptions, key indexer.Key) said {
	p := kit.Pod(key.Name, fmt.Sprint(w.serial))
	id := IdentityOf(p)
	if w.rand.IntN(3) == 0 {
		p.UID, p.ResourceVersion = "", ""
	}
	in.Put(key, p, id)
	w.quarantine.Leave(in, key)
	return said{stored: p, identity: id}
}

func (w *exceptionTwins) fail(in *Exceptions, key indexer.Key, s said) said {
	entered := w.quarantine.Enter(in, key, nil)
	require.Equal(w.t, !s.failed, entered)
	s.failed = true
	return s
}

// relist replaces the objects by those of a full state, in which some are listed again, some fail and
// some are gone. Some full states are given up.
func (w *exceptionTwins) relist() {
	var next Exceptions
	slow := map[indexer.Key]said{}
	for _, key := range slices.SortedFunc(maps.Keys(w.slow), func(a, b indexer.Key) int { return strings.Compare(a.Name, b.Name) }) {
		s := w.slow[key]
		w.serial++
		switch w.rand.IntN(4) {
		case 0: // gone
		case 1:
			if s.stored != nil {
				next.Keep(key, &w.fast)
			}
			s.failed = false
			slow[key] = w.fail(&next, key, s)
		default:
			slow[key] = w.put(&next, key)
		}
	}
	if w.rand.IntN(4) == 0 {
		w.quarantine.LeaveAll(&next)
		return
	}
	w.quarantine.LeaveAll(&w.fast)
	w.fast.Replace(&next)
	w.slow = slow
	require.Zero(w.t, next.Failures()+next.Identities())
}

func (w *exceptionTwins) compare() {
	failures, hidden := 0, 0
	for key, s := range w.slow {
		require.Equal(w.t, s.failed, w.fast.Failed(key))
		require.Equal(w.t, s.failed, w.quarantine.Holds(key))
		if s.failed {
			failures++
		}
		if s.stored == nil {
			continue
		}
		id, ok := w.fast.Identity(key, s.stored)
		if !ok {
			id = IdentityOf(s.stored)
		} else {
			hidden++
		}
		require.Equal(w.t, s.identity, id)
	}
	require.Equal(w.t, failures, w.fast.Failures())
	require.Len(w.t, w.quarantine.All(), failures)
	require.Equal(w.t, hidden, w.fast.Identities())
}

func playExceptions(t *testing.T, more func() bool, r *rand.Rand) {
	w := &exceptionTwins{t: t, rand: r, slow: map[indexer.Key]said{}}
	for more() {
		if r.IntN(30) == 0 {
			w.relist()
		} else {
			w.step()
		}
		w.compare()
	}
}

func TestExceptionsAgainstTheirTwin(t *testing.T) {
	for seed := range uint64(30) {
		steps := 0
		playExceptions(t, func() bool { steps++; return steps < 500 }, rand.New(rand.NewPCG(seed, 4))) //nolint:gosec // a test
	}
}

func FuzzExceptions(f *testing.F) { chance.Fuzz(f, playExceptions) }
