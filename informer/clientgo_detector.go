package informer

import (
	"os"
	"strconv"

	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
)

// detecting says whether client-go's mutation detector is on. Like the detector, it reads the
// environment once, at the start.
var detecting, _ = strconv.ParseBool(os.Getenv("KUBE_CACHE_MUTATION_DETECTOR"))

// newDetector returns client-go's detector of changed cached objects, which ends the process when
// it finds one. It returns nil if the detector is off.
func newDetector(name string) cache.MutationDetector {
	if !detecting {
		return nil
	}
	return cache.NewCacheMutationDetector(name)
}

// detect runs the detector until stop is called.
func (i *clientgoInformer) detect() (stop func()) {
	stopping, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		i.detector.Run(stopping)
	}()
	return func() {
		close(stopping)
		<-ended
	}
}

// copyForDetector lets the detector copy the objects about to be stored.
func (i *clientgoInformer) copyForDetector(batch []deltafifo.Delta) {
	for n := range batch {
		d := &batch[n]
		if d.Recalled {
			continue // it was copied when it came
		}
		if d.Op == deltafifo.Added || d.Op == deltafifo.Modified {
			i.detector.AddObject(d.Object)
		}
	}
}
