package debug_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/debug"
)

// The page is served beside pprof. It has its figures as JSON, too.
func Example() {
	f := factory.NewSharedInformerFactory(fake.NewClientset(), 0)
	f.Core().V1().Pods().Informer()

	page := debug.New(debug.Options{}, f.Informers())
	mux := http.NewServeMux()
	mux.Handle("/debug/informers", page)

	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://localhost/debug/informers?format=json", nil))
	var report struct {
		Informers []struct{ Name, State string }
	}
	_ = json.NewDecoder(answer.Body).Decode(&report) // it is JSON
	for _, i := range report.Informers {
		fmt.Println(i.Name, i.State)
	}
	// Output: pods not started
}
