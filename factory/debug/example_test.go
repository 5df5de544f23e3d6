package debug_test

import (
	"fmt"
	"net/http"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/debug"
)

// The page is served beside pprof. Its figures are also available without a browser.
func Example() {
	f := factory.NewSharedInformerFactory(fake.NewClientset(), 0)
	f.Core().V1().Pods().Informer()

	page := debug.New(debug.Options{}, factory.InUse(f))
	mux := http.NewServeMux()
	mux.Handle("/debug/informers", page)

	for _, i := range page.Report().Informers {
		fmt.Println(i.Name, i.State)
	}
	// Output: pods not started
}
