package cluster

import "fmt"

// Namespaces is the number of namespaces.
const Namespaces = 50

const (
	owners = 400 // workloads that have pods
	nodes  = 300
)

// Namespace returns the name of the i-th namespace.
func Namespace(i int) string { return fmt.Sprintf("team-%03d", i) }

func nodeName(i int) string { return fmt.Sprintf("node-%03d.eu-central-1.compute.internal", i) }

// Cluster generates the objects of a cluster by their numbers. Its methods are safe for concurrent use.
type Cluster struct {
	seed  uint64
	slots []slot // the slots of the pods
}

// slot is a pod's owner, and its index among the owner's pods.
type slot struct {
	owner   *owner
	ordinal int
}

// New returns a cluster with a number of pods.
func New(seed uint64, pods int) *Cluster {
	m := &Cluster{seed: seed, slots: make([]slot, pods)}
	all := make([]*owner, owners)
	for i := range all {
		all[i] = newOwner(seed, kindOf(i), i)
	}
	next := make([]int, owners)
	for i := range m.slots {
		n := newChance(seed, "slot", i).skewed(owners) // some owners have ten times as many pods as others
		m.slots[i] = slot{all[n], next[n]}
		next[n]++
	}
	return m
}

// Pods returns the number of pods.
func (m *Cluster) Pods() int { return len(m.slots) }

// NamespaceOf returns the namespace of the i-th pod.
func (m *Cluster) NamespaceOf(i int) string { return m.slots[i].owner.namespace }
