package conformance_test

import (
	"errors"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/informer"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

var errPoison = errors.New("on purpose")

// failOnLabel is a transform that fails on pods with a label.
func failOnLabel(obj any) (any, error) {
	if p, ok := obj.(*corev1.Pod); ok {
		switch p.Labels["poison"] {
		case "error":
			return nil, errPoison
		case "panic":
			panic(errPoison)
		case "exit":
			runtime.Goexit()
		}
	}
	return obj, nil
}

// D3, B88, B72: an object on which the transform fails does not affect the other objects of its list.
// The error names it.
func TestContract_D3_B88_B72_AListWithAPoisonedObject(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2", kit.Label("poison", "error"))))
		require.NoError(t, w.transform(failOnLabel))
		errs := w.collectErrors()
		rec, reg := w.addRecorder()
		w.start()
		require.True(t, w.synced())
		require.Equal(t, []string{"initial a@1"}, rec.Take())
		require.True(t, reg.synced())
		require.Len(t, errs(), 1)
		require.ErrorIs(t, errs()[0], errPoison)
		require.ErrorContains(t, errs()[0], "default/b")
		w.Send(watch.Modified, kit.Pod("b", "11"))
		require.Equal(t, []string{"add b@11"}, rec.Take(), "the transform runs again")
	})
}

// D3, B62: an event on whose object the transform fails is reported. The old version stays stored.
func TestContract_D3_B62_AnEventWithAPoisonedObject(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		require.NoError(t, w.transform(failOnLabel))
		errs := w.collectErrors()
		rec, _ := w.addRecorder()
		w.start()
		rec.Take()
		w.Send(watch.Modified, kit.Pod("a", "11", kit.Label("poison", "error")))
		require.Empty(t, rec.Take())
		require.Equal(t, "a@1", kit.Text(w.get("default/a")))
		require.Len(t, errs(), 1)
		require.ErrorIs(t, errs()[0], errPoison)
		w.Set("20", kit.Pod("a", "11"))
		w.relist()
		require.Equal(t, []string{"update a@1 a@11"}, rec.Take())
	})
}

// D3: a delete removes the object even if the transform fails on its last state.
func TestContract_D3_APoisonedDelete(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		require.NoError(t, w.transform(failOnLabel))
		w.collectErrors()
		rec, _ := w.addRecorder()
		w.start()
		rec.Take()
		w.Send(watch.Deleted, kit.Pod("a", "11", kit.Label("poison", "error")))
		require.Equal(t, []string{"delete tombstone default/a a@1"}, rec.Take())
		require.Empty(t, w.keys())
	})
}

// D3: a delete on which the transform fails is not delivered if its object was not stored, because a
// tombstone would have no object. client-go does not deliver any delete on which the transform fails.
func TestContract_D3_APoisonedDeleteOfTheUnknown(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10"))
		require.NoError(t, w.transform(failOnLabel))
		w.collectErrors()
		rec, _ := w.addRecorder()
		w.start()
		w.Send(watch.Added, kit.Pod("a", "11", kit.Label("poison", "error")))
		w.Send(watch.Deleted, kit.Pod("a", "12", kit.Label("poison", "error")))
		require.Empty(t, rec.Take())
	})
}

// D3, B99: a transform's panic affects one object, not the process.
func TestContract_D3_B99_ATransformThatPanics(t *testing.T) {
	crashes(t, "on purpose", func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2", kit.Label("poison", "panic"))))
		require.NoError(t, w.transform(failOnLabel))
		errs := w.collectErrors()
		w.start()
		require.True(t, w.synced())
		require.Equal(t, []string{"default/a"}, w.keys())
		require.Len(t, errs(), 1)
	})
}

// D3: the status counts the quarantined objects.
func TestContract_D3_StatusCounts(t *testing.T) {
	typedOnly(t, "client-go has no status", func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2", kit.Label("poison", "error"))))
		require.NoError(t, w.transform(failOnLabel))
		w.start()
		require.Equal(t, 1, w.typed().informer.Status().Quarantined)
		w.Send(watch.Modified, kit.Pod("b", "11"))
		synctest.Wait()
		require.Zero(t, w.typed().informer.Status().Quarantined)
	})
}

// nilByLabel is a transform that returns nil for pods with a label.
func nilByLabel(obj any) (any, error) {
	if p, ok := obj.(*corev1.Pod); ok && p.Labels["nil"] != "" {
		return nil, nil //nolint:nilnil // like a careless transform
	}
	return obj, nil
}

// B93: a watched object for which the transform returns nil is left out.
func TestContract_B93_ATransformThatReturnsNil(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		require.NoError(t, w.transform(nilByLabel))
		rec, _ := w.addRecorder()
		w.start()
		w.Send(watch.Added, kit.Pod("b", "11", kit.Label("nil", "yes")))
		w.Send(watch.Modified, kit.Pod("a", "12", kit.Label("nil", "yes")))
		require.Equal(t, []string{"initial a@1"}, rec.Take())
		require.Equal(t, "a@1", kit.Text(w.get("default/a")))
		require.Equal(t, []string{"default/a"}, w.keys())
	})
}

// D3, B93: such an object is reported, does not affect other objects of a list, and is tried again.
func TestContract_D3_B93_AnObjectMadeNilIsQuarantined(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1", kit.Label("nil", "yes")), kit.Pod("b", "2")))
		require.NoError(t, w.transform(nilByLabel))
		errs := w.collectErrors()
		rec, _ := w.addRecorder()
		w.start()
		require.Equal(t, []string{"initial b@2"}, rec.Take())
		require.Len(t, errs(), 1)
		require.ErrorIs(t, errs()[0], informer.ErrTransform)
		require.ErrorContains(t, errs()[0], "default/a")
		w.Send(watch.Modified, kit.Pod("a", "11"))
		require.Equal(t, []string{"add a@11"}, rec.Take())
	})
}
