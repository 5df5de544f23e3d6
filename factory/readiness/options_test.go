package readiness

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
)

// An informer of Secrets whose options are wrong has not failed to list.
func TestWrongOptionsOfSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := factory.NewSharedInformerFactory(fake.NewClientset(), 0)
		require.NoError(t, factory.Configure(f, informer.Options[*corev1.Secret]{MinWatchTimeout: -time.Second}))
		f.Core().V1().Secrets().Informer()
		f.StartWithContext(t.Context())
		synctest.Wait()
		_, text := ask(New(Options{}, f.Informers()), "/readyz?verbose")
		require.NotContains(t, text, "A list or watch failed.")
	})
}
