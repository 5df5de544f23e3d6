package sim_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
)

type (
	pod = corev1.Pod
	key = indexer.Key
)

func keyOf(p *pod) key { return key{Namespace: p.Namespace, Name: p.Name} }

// mark identifies a version of an object by the epoch (the history of the server) and the number of the
// write. The world writes it into each object, so that the checkers need not trust resourceVersions.
type mark struct{ epoch, serial int }

const markName = "sim"

func (m mark) String() string { return fmt.Sprintf("%d.%d", m.epoch, m.serial) }
func (m mark) before(n mark) bool {
	return m.epoch < n.epoch || m.epoch == n.epoch && m.serial < n.serial
}
func (m mark) of(p *pod)       { p.Annotations = map[string]string{markName: m.String()} }
func spell(p *pod) string      { return keyOf(p).String() + "@" + markOf(p).String() }
func namespaceOf(n int) string { return string(rune('a' + n)) }
func poisonous(p *pod) bool    { return p.Labels["poison"] != "" }

// markOf returns the mark of an object, or the zero mark.
func markOf(p *pod) (m mark) {
	epoch, serial, _ := strings.Cut(p.Annotations[markName], ".")
	m.epoch, _ = strconv.Atoi(epoch)
	m.serial, _ = strconv.Atoi(serial)
	return m
}

// change is a write to a server. It is repeated when the server is restored.
type change struct {
	pod  *pod
	gone bool
}

// model is the reference model: all present and past objects of the servers.
type model struct {
	epoch, serial int
	log           []change // since the epoch began
	live          map[key]*pod

	mu    sync.Mutex
	ever  map[key]map[mark]bool // guarded by mu
	shown map[string][]*pod     // the objects that sources have sent, in their stored form, by description; guarded by mu
}

func newModel() *model {
	return &model{epoch: 1, live: map[key]*pod{}, ever: map[key]map[mark]bool{}, shown: map[string][]*pod{}}
}

// randomChange returns a random change of a random object.
func (t *model) randomChange(r *rand.Rand, s setup) change {
	t.serial++
	p := &pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespaceOf(r.IntN(s.namespaces)), Name: fmt.Sprint("o", r.IntN(s.names)),
	}}
	deletes := 4 // of this many writes of an existing object, one is a delete
	if s.recurs {
		deletes = 2
	}
	if t.live[keyOf(p)] != nil && r.IntN(deletes) == 0 {
		return change{pod: p, gone: true}
	}
	p.Labels = map[string]string{"app": string(rune('x' + r.IntN(3)))}
	ownedBy(p, "app")
	p.Spec.NodeName = fmt.Sprint("n", r.IntN(4))
	if s.recurs {
		p.Labels["uid"] = fmt.Sprint(r.IntN(2))
		if old := t.live[keyOf(p)]; old != nil {
			p.Labels["uid"] = old.Labels["uid"]
		}
	}
	if s.zones > 0 {
		p.Labels["zone"] = fmt.Sprint(r.IntN(s.zones))
	}
	kinds := poisons["frail"]
	if s.transform == renames {
		kinds = poisons[renames]
		if r.IntN(3) == 0 {
			p.Labels[aliasLabel] = "yes"
		}
	}
	if r.IntN(10) == 0 {
		p.Labels["poison"] = kinds[r.IntN(len(kinds))]
	}
	if r.IntN(10) == 0 {
		p.Labels["unindexed"] = "panic"
	}
	mark{t.epoch, t.serial}.of(p)
	return change{pod: p}
}

// namedChange returns the change for a step of a transcript.
func (t *model) namedChange(s step) change {
	t.serial++
	p := &pod{}
	p.Namespace, p.Name, _ = strings.Cut(s.name, "/")
	if s.op == remove {
		return change{pod: p, gone: true}
	}
	if s.op == poison {
		p.Labels = map[string]string{"poison": "error"}
	}
	mark{t.epoch, t.serial}.of(p)
	return change{pod: p}
}

// record records a change made on the server.
func (t *model) record(c change) {
	t.log = append(t.log, c)
	k := keyOf(c.pod)
	if c.gone {
		delete(t.live, k)
		return
	}
	t.live[k] = c.pod
}

// announce records a version before it is written, because handlers may get it before the driver
// continues.
func (t *model) announce(p *pod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := keyOf(p)
	if t.ever[k] == nil {
		t.ever[k] = map[mark]bool{}
	}
	t.ever[k][markOf(p)] = true
}

// everHad reports whether the object ever had this version.
func (t *model) everHad(p *pod) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ever[keyOf(p)][markOf(p)]
}

// show records an object that a source has sent, in its stored form.
func (t *model) show(p *pod) {
	if !t.hasShown(p) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.shown[spell(p)] = append(t.shown[spell(p)], p)
	}
}

// hasShown reports whether an object equals one that a source has sent.
func (t *model) hasShown(p *pod) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.shown[spell(p)], func(sent *pod) bool { return reflect.DeepEqual(sent, p) })
}

// rollBack begins another epoch without the last n changes, and returns the remaining changes. Their
// objects have the same versions and UIDs as before, but other marks, because the histories are
// different.
func (t *model) rollBack(n int) []change {
	left := t.log[:len(t.log)-n]
	t.epoch++
	t.log, t.live = nil, map[key]*pod{}
	changes := make([]change, len(left))
	for i, c := range left {
		p := c.pod.DeepCopy()
		if !c.gone {
			mark{t.epoch, markOf(p).serial}.of(p)
		}
		changes[i] = change{pod: p, gone: c.gone}
	}
	return changes
}
