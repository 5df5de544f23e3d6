package factory

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/tools/cache"
)

// Fake clientsets keep no history: a deletion before the watch is open is lost. An informer of a
// fake is therefore synced only when its watch is open, which may take up to 100 ms.
func TestWhatIsDeletedFromAFakeAfterTheSync(t *testing.T) {
	slowly := func(o *metav1.ListOptions) {
		if o.AllowWatchBookmarks { // a watch request
			time.Sleep(30 * time.Millisecond)
		}
	}
	for name, row := range map[string]func(*testing.T) (f interface{ StartWithContext(context.Context) }, pods cache.SharedIndexInformer, remove func(context.Context) error){
		"typed": func(*testing.T) (interface{ StartWithContext(context.Context) }, cache.SharedIndexInformer, func(context.Context) error) {
			c := fake.NewClientset(newPod("prod", "web"))
			f := NewFilteredSharedInformerFactory(c, 0, "prod", slowly)
			return f, f.Core().V1().Pods().Informer(), func(ctx context.Context) error {
				return c.CoreV1().Pods("prod").Delete(ctx, "web", metav1.DeleteOptions{})
			}
		},
		"dynamic": func(*testing.T) (interface{ StartWithContext(context.Context) }, cache.SharedIndexInformer, func(context.Context) error) {
			c := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, newPod("prod", "web"))
			f := NewFilteredDynamicSharedInformerFactory(c, 0, "prod", slowly)
			return f, f.ForResource(podResource).Informer(), func(ctx context.Context) error {
				return c.Resource(podResource).Namespace("prod").Delete(ctx, "web", metav1.DeleteOptions{})
			}
		},
		"metadata": func(t *testing.T) (interface{ StartWithContext(context.Context) }, cache.SharedIndexInformer, func(context.Context) error) {
			c := metadatafake.NewSimpleMetadataClient(withMeta(t), partial("prod", "web"))
			f := NewFilteredMetadataSharedInformerFactory(c, 0, "prod", slowly)
			return f, f.ForResource(podResource).Informer(), func(ctx context.Context) error {
				return c.Resource(podResource).Namespace("prod").Delete(ctx, "web", metav1.DeleteOptions{})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context) {
				f, pods, remove := row(t)
				f.StartWithContext(ctx)
				<-pods.HasSyncedChecker().Done()
				require.Len(t, pods.GetStore().List(), 1)
				require.NoError(t, remove(ctx))
				time.Sleep(time.Minute)
				require.Empty(t, pods.GetStore().List())
			})
		})
	}
}
