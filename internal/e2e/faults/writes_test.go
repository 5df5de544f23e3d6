package faults

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/tidemark-k8s/tidemark/informer"
)

// kindClient writes the objects of a kind, like generated clients.
type kindClient[T any] interface {
	Create(context.Context, T, metav1.CreateOptions) (T, error)
	Update(context.Context, T, metav1.UpdateOptions) (T, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
	Get(context.Context, string, metav1.GetOptions) (T, error)
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (T, error)
}

// Some clients have more methods.
type (
	collections interface {
		DeleteCollection(context.Context, metav1.DeleteOptions, metav1.ListOptions) error
	}
	statuses[T any] interface {
		UpdateStatus(context.Context, T, metav1.UpdateOptions) (T, error)
	}
	finalizing interface {
		Finalize(context.Context, *corev1.Namespace, metav1.UpdateOptions) (*corev1.Namespace, error)
	}
	podParts interface {
		EvictV1(context.Context, *policyv1.Eviction) error
		Bind(context.Context, *corev1.Binding, metav1.CreateOptions) error
		UpdateResize(context.Context, string, *corev1.Pod, metav1.UpdateOptions) (*corev1.Pod, error)
		UpdateEphemeralContainers(context.Context, string, *corev1.Pod, metav1.UpdateOptions) (*corev1.Pod, error)
	}
)

// customObjects uses a dynamic client as the client of one kind.
type customObjects struct{ dynamic.ResourceInterface }

func (c customObjects) Create(ctx context.Context, obj *unstructured.Unstructured, o metav1.CreateOptions) (*unstructured.Unstructured, error) {
	return c.ResourceInterface.Create(ctx, obj, o)
}

func (c customObjects) Update(ctx context.Context, obj *unstructured.Unstructured, o metav1.UpdateOptions) (*unstructured.Unstructured, error) {
	return c.ResourceInterface.Update(ctx, obj, o)
}

func (c customObjects) Delete(ctx context.Context, name string, o metav1.DeleteOptions) error {
	return c.ResourceInterface.Delete(ctx, name, o)
}

func (c customObjects) Get(ctx context.Context, name string, o metav1.GetOptions) (*unstructured.Unstructured, error) {
	return c.ResourceInterface.Get(ctx, name, o)
}

// kind is a kind of objects that a writer writes.
type kind[T informer.Object] struct {
	name      string // the kind in answers
	namespace string
	fresh     func(name string) T // returns an object to create
	status    string              // a patch of the status with a number; "" if the kind has no status
	sorts     []sort[T]
}

// sort is a sort of write.
type sort[T informer.Object] struct {
	name  string
	of    state // the state of objects that allow the write
	dry   bool  // the write changes nothing
	write func(context.Context, attempt[T]) error
}

// state is the state of an object according to a cache.
type state uint8

const (
	absent state = iota
	living
	dying // the object has a deletionTimestamp
)

// attempt is a write of an object, with the object in the cache.
type attempt[T informer.Object] struct {
	*worker[T]
	name   string
	stored T
}

const (
	finalizer    = "example.com/wait"
	fieldManager = "writer"
	rounds5      = 5 // the number of values of the label round
)

// next returns a copy of the stored object in another round.
func (a attempt[T]) next() T {
	next := a.stored.DeepCopyObject().(T)
	set := next.GetLabels()
	if set == nil {
		set = map[string]string{"object": a.name}
	}
	set["round"] = a.round()
	next.SetLabels(set)
	return next
}

func (a attempt[T]) round() string { return fmt.Sprint(a.random.IntN(rounds5)) }

// fresh returns an object to create, which may have a finalizer.
func (a attempt[T]) fresh() T {
	obj := a.kind.fresh(a.name)
	if a.random.IntN(2) == 0 {
		obj.SetFinalizers([]string{finalizer})
	}
	return obj
}

// nameless returns an object to create whose name the server generates.
func (a attempt[T]) nameless() T {
	obj := a.kind.fresh(a.name)
	obj.SetName("")
	obj.SetGenerateName(a.name + "-")
	return obj
}

// patch sends a JSON patch.
func (a attempt[T]) patch(ctx context.Context, kind types.PatchType, patch string, o metav1.PatchOptions, subresource ...string) error {
	_, err := a.own.Patch(ctx, a.name, kind, []byte(patch), o, subresource...)
	return err
}

// merge sends a merge patch.
func (a attempt[T]) merge(ctx context.Context, patch string, o metav1.PatchOptions, subresource ...string) error {
	return a.patch(ctx, types.MergePatchType, patch, o, subresource...)
}

// toRound returns a merge patch of the label round. In a fifth of all cases it changes nothing.
func (a attempt[T]) toRound() string {
	return fmt.Sprintf(`{"metadata":{"labels":{"round":%q}}}`, a.round())
}

// apply applies an object with a label and, if note is not empty, an annotation.
func (a attempt[T]) apply(ctx context.Context, note string, o metav1.PatchOptions) error {
	obj := a.kind.fresh(a.name)
	obj.SetLabels(map[string]string{"object": a.name, "round": a.round()})
	if note != "" {
		obj.SetAnnotations(map[string]string{"note": note})
	}
	text, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	o.FieldManager, o.Force = fieldManager, new(bool)
	*o.Force = true
	return a.patch(ctx, types.ApplyPatchType, string(text), o)
}

// selected returns the selector of the object's label.
func (a attempt[T]) selected() metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: "object=" + a.name}
}

// unfinalized returns a copy of the stored object without finalizers.
func (a attempt[T]) unfinalized() T {
	next := a.stored.DeepCopyObject().(T)
	next.SetFinalizers(nil)
	return next
}

// dryRun are the options of a dry run.
var dryRun = []string{metav1.DryRunAll}

// dryPatch is a patch that must never be seen.
const dryPatch = `{"metadata":{"annotations":{"note":"dry"}}}`

// writesOfAll returns the sorts of writes that all kinds have.
func writesOfAll[T informer.Object]() []sort[T] {
	return []sort[T]{
		{name: "create", of: absent, write: func(ctx context.Context, a attempt[T]) error {
			_, err := a.own.Create(ctx, a.fresh(), metav1.CreateOptions{})
			return err
		}},
		{name: "create by apply", of: absent, write: func(ctx context.Context, a attempt[T]) error { return a.apply(ctx, "", metav1.PatchOptions{}) }},
		{name: "create, dry", of: absent, dry: true, write: func(ctx context.Context, a attempt[T]) error {
			_, err := a.own.Create(ctx, a.fresh(), metav1.CreateOptions{DryRun: dryRun})
			return err
		}},
		{name: "update", of: living, write: func(ctx context.Context, a attempt[T]) error {
			_, err := a.own.Update(ctx, a.next(), metav1.UpdateOptions{})
			return err
		}},
		{name: "update, dry", of: living, dry: true, write: func(ctx context.Context, a attempt[T]) error {
			next := a.next()
			next.SetAnnotations(map[string]string{"note": "dry"})
			_, err := a.own.Update(ctx, next, metav1.UpdateOptions{DryRun: dryRun})
			return err
		}},
		{name: "patch", of: living, write: func(ctx context.Context, a attempt[T]) error { return a.merge(ctx, a.toRound(), metav1.PatchOptions{}) }},
		{name: "patch with a version", of: living, write: func(ctx context.Context, a attempt[T]) error {
			patch := `{"metadata":{"resourceVersion":%q,"labels":{"round":%q}}}`
			return a.merge(ctx, fmt.Sprintf(patch, a.stored.GetResourceVersion(), a.round()), metav1.PatchOptions{})
		}},
		{name: "patch of nothing", of: living, write: func(ctx context.Context, a attempt[T]) error { return a.merge(ctx, `{}`, metav1.PatchOptions{}) }},
		{name: "patch in operations", of: living, write: func(ctx context.Context, a attempt[T]) error {
			patch := fmt.Sprintf(`[{"op":"add","path":"/metadata/annotations","value":{"note":%q}}]`, a.round())
			return a.patch(ctx, types.JSONPatchType, patch, metav1.PatchOptions{})
		}},
		{name: "patch, dry", of: living, dry: true, write: func(ctx context.Context, a attempt[T]) error {
			return a.merge(ctx, dryPatch, metav1.PatchOptions{DryRun: dryRun})
		}},
		{name: "apply", of: living, write: func(ctx context.Context, a attempt[T]) error { return a.apply(ctx, a.round(), metav1.PatchOptions{}) }},
		{name: "apply, dry", of: living, dry: true, write: func(ctx context.Context, a attempt[T]) error {
			return a.apply(ctx, "dry", metav1.PatchOptions{DryRun: dryRun})
		}},
		{name: "delete", of: living, write: func(ctx context.Context, a attempt[T]) error { return a.own.Delete(ctx, a.name, now) }},
		{name: "delete with preconditions", of: living, write: func(ctx context.Context, a attempt[T]) error {
			uid, version := a.stored.GetUID(), a.stored.GetResourceVersion()
			return a.own.Delete(ctx, a.name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}})
		}},
		{name: "delete, dry", of: living, dry: true, write: func(ctx context.Context, a attempt[T]) error {
			return a.own.Delete(ctx, a.name, metav1.DeleteOptions{DryRun: dryRun})
		}},
		{name: "patch of a dying one", of: dying, write: func(ctx context.Context, a attempt[T]) error { return a.merge(ctx, a.toRound(), metav1.PatchOptions{}) }},
		{name: "last finalizer by update", of: dying, write: func(ctx context.Context, a attempt[T]) error {
			_, err := a.own.Update(ctx, a.unfinalized(), metav1.UpdateOptions{})
			return err
		}},
		{name: "last finalizer by patch", of: dying, write: func(ctx context.Context, a attempt[T]) error {
			return a.merge(ctx, `{"metadata":{"finalizers":null}}`, metav1.PatchOptions{})
		}},
		{name: "last finalizer, dry", of: dying, dry: true, write: func(ctx context.Context, a attempt[T]) error {
			_, err := a.own.Update(ctx, a.unfinalized(), metav1.UpdateOptions{DryRun: dryRun})
			return err
		}},
	}
}

// writesOfNamespaced returns the additional sorts of writes for objects in namespaces.
func writesOfNamespaced[T informer.Object]() []sort[T] {
	foreground := metav1.DeletePropagationForeground
	return []sort[T]{
		{name: "create with a generated name", of: absent, write: func(ctx context.Context, a attempt[T]) error {
			_, err := a.own.Create(ctx, a.nameless(), metav1.CreateOptions{})
			return err
		}},
		{name: "create with a generated name, dry", of: absent, dry: true, write: func(ctx context.Context, a attempt[T]) error {
			obj := a.nameless()
			obj.SetAnnotations(map[string]string{"note": "dry"})
			_, err := a.own.Create(ctx, obj, metav1.CreateOptions{DryRun: dryRun})
			return err
		}},
		{name: "delete in the foreground", of: living, write: func(ctx context.Context, a attempt[T]) error {
			return a.own.Delete(ctx, a.name, metav1.DeleteOptions{PropagationPolicy: &foreground})
		}},
		{name: "delete again", of: dying, write: func(ctx context.Context, a attempt[T]) error { return a.own.Delete(ctx, a.name, now) }},
		{name: "delete a collection", of: living, write: func(ctx context.Context, a attempt[T]) error {
			return a.own.(collections).DeleteCollection(ctx, now, a.selected())
		}},
		{name: "delete a collection, dry", of: living, dry: true, write: func(ctx context.Context, a attempt[T]) error {
			return a.own.(collections).DeleteCollection(ctx, metav1.DeleteOptions{DryRun: dryRun}, a.selected())
		}},
	}
}

// writesOfStatus returns the sorts of writes for kinds with a status.
func writesOfStatus[T informer.Object]() []sort[T] {
	return []sort[T]{
		{name: "patch the status", of: living, write: func(ctx context.Context, a attempt[T]) error {
			return a.merge(ctx, fmt.Sprintf(a.kind.status, a.random.IntN(3)), metav1.PatchOptions{}, "status")
		}},
		{name: "patch the status of a dying one", of: dying, write: func(ctx context.Context, a attempt[T]) error {
			return a.merge(ctx, fmt.Sprintf(a.kind.status, a.random.IntN(3)), metav1.PatchOptions{}, "status")
		}},
		{name: "update the status", of: living, write: func(ctx context.Context, a attempt[T]) error {
			_, err := a.own.(statuses[T]).UpdateStatus(ctx, a.next(), metav1.UpdateOptions{})
			return err
		}},
		{name: "patch the status, dry", of: living, dry: true, write: func(ctx context.Context, a attempt[T]) error {
			return a.merge(ctx, fmt.Sprintf(a.kind.status, 9), metav1.PatchOptions{DryRun: dryRun}, "status")
		}},
	}
}

// writesOfScale returns the sorts of writes for custom resources that can be scaled.
func writesOfScale() []sort[*unstructured.Unstructured] {
	const patch = `{"spec":{"replicas":%d}}`
	return []sort[*unstructured.Unstructured]{
		{name: "patch the scale", of: living, write: func(ctx context.Context, a attempt[*unstructured.Unstructured]) error {
			return a.merge(ctx, fmt.Sprintf(patch, a.random.IntN(3)), metav1.PatchOptions{}, "scale")
		}},
		{name: "update the scale", of: living, write: func(ctx context.Context, a attempt[*unstructured.Unstructured]) error {
			scale := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "autoscaling/v1", "kind": "Scale",
				"metadata": map[string]any{"name": a.name, "namespace": a.kind.namespace, "resourceVersion": a.stored.GetResourceVersion()},
				"spec":     map[string]any{"replicas": int64(a.random.IntN(3))},
			}}
			_, err := a.own.(customObjects).ResourceInterface.Update(ctx, scale, metav1.UpdateOptions{}, "scale")
			return err
		}},
		{name: "patch the scale, dry", of: living, dry: true, write: func(ctx context.Context, a attempt[*unstructured.Unstructured]) error {
			return a.merge(ctx, fmt.Sprintf(patch, 9), metav1.PatchOptions{DryRun: dryRun}, "scale")
		}},
	}
}

// writesOfNamespaces returns the sorts of writes only for Namespaces. There is no controller that
// finalizes them.
func writesOfNamespaces() []sort[*corev1.Namespace] {
	finalize := func(ctx context.Context, a attempt[*corev1.Namespace]) error {
		next := a.stored.DeepCopy()
		next.Spec.Finalizers = nil
		_, err := a.own.(finalizing).Finalize(ctx, next, metav1.UpdateOptions{})
		return err
	}
	return []sort[*corev1.Namespace]{
		{name: "strategic patch", of: living, write: func(ctx context.Context, a attempt[*corev1.Namespace]) error {
			return a.patch(ctx, types.StrategicMergePatchType, a.toRound(), metav1.PatchOptions{})
		}},
		{name: "finalize", of: dying, write: finalize},
		{name: "finalize again", of: dying, write: finalize},
	}
}
