package metrics_test

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/metrics"
)

// A collector measures all informers of a factory, also those that are requested later.
func Example() {
	f := factory.NewSharedInformerFactory(fake.NewClientset(), 0)
	f.Core().V1().Pods().Informer()

	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics.New(f.Informers()))

	families, err := registry.Gather()
	fmt.Println(families[0].GetName(), err)
	// Output: tidemark_informer_backoff_seconds_total <nil>
}
