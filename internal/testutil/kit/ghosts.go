package kit

import (
	"runtime"
	"weak"

	corev1 "k8s.io/api/core/v1"
)

// Ghosts are weak pointers to pods that should become garbage.
type Ghosts []weak.Pointer[corev1.Pod]

// Watch adds a pod, and returns it.
func (g *Ghosts) Watch(p *corev1.Pod) *corev1.Pod {
	*g = append(*g, weak.Make(p))
	return p
}

// Left returns how many of the pods are still in memory after some garbage collections.
func (g *Ghosts) Left() (n int) {
	for range 20 {
		runtime.GC()
		n = 0
		for _, p := range *g {
			if p.Value() != nil {
				n++
			}
		}
		if n == 0 {
			return 0
		}
		runtime.Gosched() // who still holds one may let go of it
	}
	return n
}
