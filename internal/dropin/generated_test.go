package dropin

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/internalinterfaces"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

var definitions = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// definitionClient returns the generated clientset of a server with two definitions.
func definitionClient(t *testing.T, ctx context.Context) clientset.Interface {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, apiextensionsv1.AddToScheme(scheme))
	server := informertest.New(informertest.Options{Scheme: scheme})
	t.Cleanup(server.Close)
	require.NoError(t, server.Register(informertest.Kind{GVR: definitions, GVK: apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")}))
	for _, name := range []string{"widgets.example.com", "gadgets.example.com"} {
		require.NoError(t, server.Create(ctx, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	require.NoError(t, server.StartInMemory())
	client, err := clientset.NewForConfig(server.ClientConfig())
	require.NoError(t, err)
	return client
}

// Accessors that were generated for a clientset other than client-go's work with our factory. This takes
// one line after their kinds are registered.
func TestGeneratedFactoryRunsOnOurs(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client := definitionClient(t, ctx)
	f := factory.NewSharedInformerFactory(nil, 0)
	defer f.Shutdown()
	defer cancel()
	require.NoError(t, factory.Register[*apiextensionsv1.CustomResourceDefinition](f, factory.Resource{
		GVR: definitions,
		Source: func(string) (reflector.Source, error) {
			return reflector.FromCustomResource[*apiextensionsv1.CustomResourceDefinition](client.ApiextensionsV1().CustomResourceDefinitions(), definitions), nil
		},
	}))

	accessor := apiextensions.New(factory.Generated[clientset.Interface, internalinterfaces.NewInformerFunc](f, client), metav1.NamespaceAll, nil).V1().CustomResourceDefinitions()

	added := make(chan string, 2)
	_, err := accessor.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		added <- obj.(*apiextensionsv1.CustomResourceDefinition).Name
	}})
	require.NoError(t, err)
	f.StartWithContext(ctx)
	require.NoError(t, f.WaitForCacheSyncWithContext(ctx).AsError())
	require.ElementsMatch(t, []string{"widgets.example.com", "gadgets.example.com"}, []string{<-added, <-added})
	widgets, err := accessor.Lister().Get("widgets.example.com")
	require.NoError(t, err)
	require.Equal(t, "widgets.example.com", widgets.Name)

	typed, err := factory.For[*apiextensionsv1.CustomResourceDefinition](f)
	require.NoError(t, err)
	require.Same(t, typed.Shared(), shared(t, accessor.Informer()))
}

// shared returns the informer behind client-go's typed one, which must be ours.
func shared(t *testing.T, i cache.SharedIndexInformer) informer.Shared {
	t.Helper()
	ours, ok := informer.SharedOf(i)
	require.True(t, ok, "the informer is not one of this module")
	return ours
}
