package rig

import (
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// Deliveries are all values of Delivery.
var Deliveries = []informer.Delivery{informer.Every, informer.Latest}

// EachDelivery runs a test for each Delivery, in a synctest bubble.
func EachDelivery(t *testing.T, test func(t *testing.T, d informer.Delivery)) {
	for _, delivery := range Deliveries {
		t.Run(map[informer.Delivery]string{informer.Every: "every", informer.Latest: "latest"}[delivery], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, delivery) })
		})
	}
}

// Ticketed is a handler that needs a token to return from a call.
func Ticketed(tokens <-chan struct{}) informer.Handler[*corev1.Pod] {
	return informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) { <-tokens })
}

// Journal is a handler that records its changes, one line per change.
type Journal struct {
	mu    sync.Mutex
	lines []string
}

// Handle records a change.
func (j *Journal) Handle(c informer.Change[*corev1.Pod]) {
	j.mu.Lock()
	defer j.mu.Unlock()

	j.lines = append(j.lines, Line(c))
}

// Line returns the line of a change in a [Journal].
func Line(c informer.Change[*corev1.Pod]) string {
	switch {
	case c.Kind == informer.Added && c.Initial:
		return "initial " + kit.Text(c.New)
	case c.Kind == informer.Added:
		return "add " + kit.Text(c.New)
	case c.Kind == informer.Deleted && c.Lost:
		return "lost " + kit.Text(c.Old)
	case c.Kind == informer.Deleted:
		return "delete " + kit.Text(c.Old)
	}
	return "update " + kit.Text(c.Old) + " " + kit.Text(c.New)
}

// Take returns the lines recorded since the previous take.
func (j *Journal) Take() []string {
	synctest.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()

	lines := j.lines
	j.lines = nil
	return lines
}

// KeyJournal records the names of the keys that a function of keys gets. A call waits at the gate, if there is one.
type KeyJournal struct {
	mu    sync.Mutex
	names []string
	Gate  chan struct{}
}

// Handle records a key.
func (j *KeyJournal) Handle(key indexer.Key) {
	j.mu.Lock()
	j.names = append(j.names, key.Name)
	gate := j.Gate
	j.mu.Unlock()
	if gate != nil {
		<-gate
	}
}

// Take returns the names recorded since the previous take.
func (j *KeyJournal) Take() []string {
	synctest.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()

	names := j.names
	j.names = nil
	return names
}

// Shut makes the next call wait until the gate is opened.
func (j *KeyJournal) Shut(gate chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()

	j.Gate = gate
}

// Gated is a journal whose calls wait at a gate before they return, until the gate is opened.
type Gated struct {
	Journal
	gate chan struct{}
}

// NewGated returns a journal with a closed gate.
func NewGated() *Gated { return &Gated{gate: make(chan struct{})} }

// Handle records a change, and waits at the gate.
func (g *Gated) Handle(c informer.Change[*corev1.Pod]) {
	g.Journal.Handle(c)
	<-g.gate
}

// Pass lets one call return.
func (g *Gated) Pass() {
	g.gate <- struct{}{}
	synctest.Wait()
}

// Open lets all calls return.
func (g *Gated) Open() { close(g.gate) }

// Idle is a handler that does nothing.
type Idle struct{}

// Handle does nothing.
func (Idle) Handle(informer.Change[*corev1.Pod]) {}
