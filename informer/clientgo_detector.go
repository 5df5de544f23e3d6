package informer

import (
	"os"
	"strconv"

	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
)

// detecting tells whether client-go's mutation detector is on. It looks once,
// at the start, and so does this.
var detecting, _ = strconv.ParseBool(os.Getenv("KUBE_CACHE_MUTATION_DETECTOR"))

// newDetector returns client-go's detector of objects that someone changes in
// the cache, which ends the process when it finds one; nil where it is off.
func newDetector(name string) cache.MutationDetector {
	if !detecting {
		return nil
	}
	return cache.NewCacheMutationDetector(name)
}

// detect runs the detector, if there is one.
func (f *clientgo) detect() (stop func()) {
	if f.detector == nil {
		return func() {}
	}
	stopping, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		f.detector.Run(stopping)
	}()
	return func() {
		close(stopping)
		<-ended
	}
}

// detectIn lets the detector copy what is about to be stored.
func detectIn[T any](f *clientgo, batch []deltafifo.Delta[T]) {
	if f.detector == nil {
		return
	}
	for i := range batch {
		d := &batch[i]
		if d.Recalled {
			continue // it was copied when it came
		}
		if d.Op == deltafifo.Added || d.Op == deltafifo.Modified {
			f.detector.AddObject(d.Object)
		}
	}
}
