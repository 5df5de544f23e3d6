package guides

import (
	"context"
	"log"
	"net/http"
	"net/http/httptest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/debug"
	"github.com/tidemark-k8s/tidemark/factory/readiness"
)

// observe returns a readiness probe and a debug page for the informers of a factory.
func observe(f *factory.Factory) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/readyz", readiness.New(readiness.Options{}, f.Informers()))
	mux.Handle("/debug/informers", debug.New(debug.Options{}, f.Informers()))
	return mux
}

func observability(ctx context.Context, config *rest.Config, out *log.Logger) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	f := factory.NewSharedInformerFactory(client, 0)
	defer f.Shutdown()
	pods, err := factory.For[*corev1.Pod](f)
	if err != nil {
		return err
	}
	ask := func() {
		answer := httptest.NewRecorder()
		observe(f).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		out.Print(answer.Code, " ", answer.Body)
	}
	ask()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f.StartWithContext(ctx)
	if err := pods.WaitSynced(ctx); err != nil {
		return err
	}
	ask()
	return nil
}

func Example_observability() {
	on(observability, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}})
	// Output:
	// 503 [-] pods not synced: it has not been started
	// not ready
	// 200 ready
}
