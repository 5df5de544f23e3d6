package readiness_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/readiness"
)

// A program whose factory was not started is not ready.
func Example() {
	f := factory.NewSharedInformerFactory(fake.NewClientset(), 0)
	f.Core().V1().Pods().Informer()

	probe := readiness.New(readiness.Options{FailOn: []readiness.Condition{readiness.Parked}}, f.Informers())
	http.Handle("/readyz", probe)

	answer := httptest.NewRecorder()
	http.DefaultServeMux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	fmt.Println(answer.Code)
	fmt.Print(answer.Body)
	// Output:
	// 503
	// [-] pods not synced: it has not been started
	// not ready
}
