package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// unowned is a scenario with an informer of configmaps without managed fields. Writes are based on its
// objects.
type unowned struct {
	*scenario
	informer *informer.Informer[*corev1.ConfigMap]
}

// startUnowned starts an informer of a factory that drops managed fields.
func (s *scenario) startUnowned() unowned {
	s.t.Helper()
	f := factory.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(s.connect(s.cluster.Config())), 0,
		factory.WithNamespace("default"), factory.WithDecoding(reflector.Decoding{Drop: []string{"metadata.managedFields"}}))
	i, err := factory.For[*corev1.ConfigMap](f)
	s.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	f.StartWithContext(ctx)
	s.t.Cleanup(func() {
		cancel()
		f.Shutdown()
	})
	return unowned{s, i}
}

// cached waits until the cache has the object in the version of at. It returns a copy.
func (u unowned) cached(at *corev1.ConfigMap) *corev1.ConfigMap {
	u.t.Helper()
	var found *corev1.ConfigMap
	u.eventually("the object is cached", func() error {
		var ok bool
		if found, ok = u.informer.Indexer().Get(indexer.Key{Namespace: at.Namespace, Name: at.Name}); !ok || found.ResourceVersion != at.ResourceVersion {
			return fmt.Errorf("the server has %s, but the cache has %s", at.ResourceVersion, identityIf(found, ok))
		}
		return nil
	})
	require.Nil(u.t, found.ManagedFields, "must be absent, because an empty list would remove the fields from their managers")
	require.NotEmpty(u.t, at.ManagedFields)
	return found.DeepCopy()
}

// owners returns the fields that each manager owns.
func owners(cm *corev1.ConfigMap) map[string]string {
	owned := map[string]string{}
	for _, m := range cm.ManagedFields {
		owned[m.Manager+" by "+string(m.Operation)] = string(m.FieldsV1.GetRawBytes())
	}
	return owned
}

// writes are the ways to write a changed copy of an object.
var writes = []struct {
	name  string
	write func(ctx context.Context, c kubernetes.Interface, cached, changed *corev1.ConfigMap) (*corev1.ConfigMap, error)
}{
	{"Update", func(ctx context.Context, c kubernetes.Interface, _, changed *corev1.ConfigMap) (*corev1.ConfigMap, error) {
		return c.CoreV1().ConfigMaps(changed.Namespace).Update(ctx, changed, metav1.UpdateOptions{FieldManager: "writer"})
	}},
	{"Patch", func(ctx context.Context, c kubernetes.Interface, cached, changed *corev1.ConfigMap) (*corev1.ConfigMap, error) {
		before, _ := json.Marshal(cached) // never fails
		after, _ := json.Marshal(changed)
		patch, err := strategicpatch.CreateTwoWayMergePatch(before, after, corev1.ConfigMap{})
		if err != nil {
			return nil, err
		}
		return c.CoreV1().ConfigMaps(changed.Namespace).Patch(ctx, changed.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: "writer"})
	}},
	{"Apply", func(ctx context.Context, c kubernetes.Interface, _, changed *corev1.ConfigMap) (*corev1.ConfigMap, error) {
		changed.APIVersion, changed.Kind = "v1", "ConfigMap" // a typed object may not have them
		data, err := json.Marshal(changed)
		if err != nil {
			return nil, err
		}
		return c.CoreV1().ConfigMaps(changed.Namespace).Patch(ctx, changed.Name, types.ApplyPatchType, data, metav1.PatchOptions{FieldManager: "writer"})
	}},
}

// ownedBy creates a configmap with two managers: one by Update, one by Apply.
func (u unowned) ownedBy(name string) *corev1.ConfigMap {
	u.t.Helper()
	maps := u.admin.CoreV1().ConfigMaps("default")
	_, err := maps.Create(u.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"created": "1"}},
		metav1.CreateOptions{FieldManager: "creator"})
	u.must(err)
	applied := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"applied":"1"}}`, name)
	cm, err := maps.Patch(u.ctx, name, types.ApplyPatchType, []byte(applied), metav1.PatchOptions{FieldManager: "applier"})
	u.must(err)
	require.Len(u.t, owners(cm), 2)
	return cm
}

// The objects of a cache without managed fields are the base of writes. After each kind of write,
// earlier managers still own their fields.
func TestScenario_DroppedManagedFields(t *testing.T) {
	s := begin(t, harness.Options{})
	u := s.startUnowned()
	for _, w := range writes {
		t.Run(w.name, func(t *testing.T) {
			before := u.ownedBy("written-by-" + strings.ToLower(w.name))
			cached := u.cached(before)
			changed := cached.DeepCopy()
			changed.Data["written"] = "1"
			_, err := w.write(u.ctx, u.admin, cached, changed)
			require.NoError(t, err)

			after, err := u.admin.CoreV1().ConfigMaps("default").Get(u.ctx, before.Name, metav1.GetOptions{})
			require.NoError(t, err)
			require.Equal(t, map[string]string{"created": "1", "applied": "1", "written": "1"}, after.Data)
			owned := owners(after)
			require.Len(t, owned, 3)
			for manager, fields := range owners(before) {
				require.Equal(t, fields, owned[manager], manager)
			}
			u.cached(after)
		})
	}
	s.row(0)
}
