package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// fate is what happens to a write.
type fate string

const (
	straight     fate = "straight"
	heldRequest  fate = "the request is held"
	heldAnswer   fate = "the answer is held"
	lostAnswer   fate = "the answer is lost"
	failedAnswer fate = "the answer is an error"
	cutAnswer    fate = "the answer breaks off"
)

// ownWriteKey is the key of an *ownWrite in a request's context.
type ownWriteKey struct{}

// ownWrite is a write of the program.
type ownWrite struct {
	what     string
	key      key // without a name until the server has generated it
	serial   string
	fate     fate
	late     bool          // the answer arrives after the event
	released chan struct{} // closed when a held write may continue
	done     chan struct{} // closed after the call has returned and err is set
	err      error

	dry    bool
	unsure bool // the answer may not say what has happened, or the store may not know the object
	judged bool // the result was checked
	epoch  int
	early  bool // the write began before the full state of the share was read
	linked bool // the informer was linked when the write began

	at int // the server's version after the write, or 0 if the server has refused it; set before done is closed
}

// applied records the server's answer.
func (on *ownWrite) applied(at int, ok bool) {
	if ok && !on.dry {
		on.at = at
	}
}

func (on *ownWrite) held() bool {
	return (on.fate == heldRequest || on.fate == heldAnswer) && !kit.Closed(on.released)
}

// writing makes a write by an author, and sends it through a client.
type writing struct {
	*ownWorld
	r      *rand.Rand
	author string
	on     *ownWrite
}

// request is the client call that makes a write.
type request func(context.Context, dynamic.ResourceInterface) error

// writeOwn begins a write by the program. It does not wait for the write.
func (w *ownWorld) writeOwn(r *rand.Rand) {
	fates := []fate{straight, straight, straight, straight, straight, heldAnswer, heldAnswer, heldRequest, lostAnswer, failedAnswer, cutAnswer}
	on := &ownWrite{fate: fates[r.IntN(len(fates))], late: r.IntN(2) == 0, released: make(chan struct{}), done: make(chan struct{}), epoch: len(w.server.past)}
	on.early = w.partial()
	on.linked = kit.Closed(w.synced()) && !on.early && w.informer.Status().OwnWrites.Linked
	author := string(rune('a' + r.IntN(2)))
	do := (&writing{w, r, author, on}).draw()
	w.trace.addLine("%s writes %s: %s", author, on.what, on.fate)
	w.reach("fate", string(on.fate))
	w.writes = append(w.writes, on)
	ctx := context.WithValue(reflector.WithWriter(context.Background(), author), ownWriteKey{}, on)
	go func() {
		defer close(on.done)
		on.err = do(ctx, w.own.Resource(w.kind.kind.GVR).Namespace(on.key.Namespace))
	}()
}

// writeOther makes a write by another program.
func (w *ownWorld) writeOther(r *rand.Rand) {
	on := &ownWrite{}
	do := (&writing{w, r, "other", on}).draw()
	err := do(context.Background(), w.other.Resource(w.kind.kind.GVR).Namespace(on.key.Namespace))
	w.trace.addLine("another program writes %s: %v", on.what, err)
}

// draw chooses an object and the change.
func (w *writing) draw() request {
	w.serials++
	w.on.serial = strconv.Itoa(w.serials)
	w.on.key = key{Namespace: namespaceOf(w.r.IntN(2)), Name: fmt.Sprint("o", w.r.IntN(2))}
	if keys := w.server.history.keys(); len(keys) > 0 && w.r.IntN(3) > 0 {
		w.on.key = keys[w.r.IntN(len(keys))]
	}
	w.on.dry = w.r.IntN(12) == 0
	now := w.server.history.newest(w.on.key)
	if now.gone {
		return w.create()
	}
	w.on.what = w.on.key.String()
	switch w.r.IntN(10) {
	case 0, 1, 2:
		return w.update(now.object)
	case 3, 4:
		return w.patch(now.object, map[string]any{"labels": map[string]any{"alias": []any{nil, "yes"}[w.r.IntN(2)]}})
	case 5:
		return w.patch(now.object, nil)
	case 6:
		return w.finalizers(now.object)
	case 7:
		zone := w.zone()
		return w.patch(now.object, map[string]any{"labels": map[string]any{"zone": zone}, "ownerReferences": []any{
			map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": zone, "uid": string(ownerOf(zone).UID)},
		}})
	}
	return w.remove(now.object)
}

func (w *writing) zone() string { return fmt.Sprint("z", w.r.IntN(3)) }

func (w *writing) dryRun() []string {
	if w.on.dry {
		w.on.what += ", a dry run"
		return []string{metav1.DryRunAll}
	}
	return nil
}

func (w *writing) create() request {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": w.kind.kind.GVK.GroupVersion().String(), "kind": w.kind.kind.GVK.Kind}}
	o.SetNamespace(w.on.key.Namespace)
	o.SetName(w.on.key.Name)
	if w.r.IntN(6) == 0 {
		o.SetName("")
		o.SetGenerateName("g-")
		w.on.key.Name = ""
	}
	o.SetLabels(map[string]string{"zone": w.zone()})
	ownedBy(o, "zone")
	if w.r.IntN(3) == 0 {
		o.SetFinalizers([]string{"example.com/wait"})
	}
	w.sign(o)
	w.on.what = "a new " + w.on.key.String() + " in " + o.GetLabels()["zone"]
	options := metav1.CreateOptions{DryRun: w.dryRun()}
	return func(ctx context.Context, c dynamic.ResourceInterface) error {
		_, err := c.Create(ctx, o, options)
		return err
	}
}

// sign marks an object with this write.
func (w *writing) sign(o metav1.Object) {
	o.SetAnnotations(map[string]string{markName: w.on.serial, "author": w.author})
}

func (w *writing) update(now *unstructured.Unstructured) request {
	o := now.DeepCopy()
	o.SetAPIVersion(w.kind.kind.GVK.GroupVersion().String())
	o.SetKind(w.kind.kind.GVK.Kind)
	w.sign(o)
	w.on.what += " anew, at version " + w.condition(func(version string) { o.SetResourceVersion(version) })
	w.on.unsure = w.on.fate == heldRequest && o.GetResourceVersion() == "" // meanwhile it may have got a finalizer, which this write removes
	options := metav1.UpdateOptions{DryRun: w.dryRun()}
	return func(ctx context.Context, c dynamic.ResourceInterface) error {
		_, err := c.Update(ctx, o, options)
		return err
	}
}

// condition chooses the version that a write must replace: the current version, an earlier one, or any.
func (w *writing) condition(set func(version string)) string {
	states := w.server.history.of(w.on.key)
	version := states[len(states)-1].object.GetResourceVersion()
	switch w.r.IntN(6) {
	case 0:
		version = ""
	case 1:
		version = states[w.r.IntN(len(states))].object.GetResourceVersion()
	}
	set(version)
	return version
}

// patch changes labels or finalizers, or nothing at all.
func (w *writing) patch(now *unstructured.Unstructured, change map[string]any) request {
	meta := map[string]any{"labels": map[string]any{"zone": now.GetLabels()["zone"]}}
	if change != nil {
		meta = change
		meta["annotations"] = map[string]any{markName: w.on.serial, "author": w.author}
	}
	w.on.what += fmt.Sprintf(" with %v", meta)
	if w.r.IntN(2) == 0 {
		w.on.what += ", at version " + w.condition(func(version string) {
			if version != "" {
				meta["resourceVersion"] = version
			}
		})
	}
	patch := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Patch", "metadata": meta}}
	text, err := patch.MarshalJSON()
	must(err)
	text = []byte(strings.Replace(string(text), `"apiVersion":"v1","kind":"Patch",`, "", 1))
	options := metav1.PatchOptions{DryRun: w.dryRun()}
	name := w.on.key.Name
	return func(ctx context.Context, c dynamic.ResourceInterface) error {
		_, err := c.Patch(ctx, name, types.MergePatchType, text, options)
		return err
	}
}

// finalizers adds a finalizer, or removes all finalizers.
func (w *writing) finalizers(now *unstructured.Unstructured) request {
	if len(now.GetFinalizers()) > 0 {
		// Removing the last finalizer of a terminating object deletes it. The answer looks like that of
		// any other update. The store can distinguish the two only if it has the object with the
		// finalizers, and no other event is in transit. With a selector, an object that the watch has
		// deleted may only have left, so that the answer is doubtful.
		selects := w.setup.sources == "a selector" || w.setup.sources == "zones"
		shown := w.stored()[w.on.key]
		knows := w.informer.Status().OwnWrites.Pending == 0 && shown != nil && shown.GetResourceVersion() == now.GetResourceVersion() && len(shown.GetFinalizers()) > 0 && !w.touched[w.on.key]
		w.on.unsure = now.GetDeletionTimestamp() != nil && (!knows || selects || w.on.fate != straight || w.on.late) || w.on.fate == heldRequest
		return w.patch(now, map[string]any{"finalizers": nil})
	}
	return w.patch(now, map[string]any{"finalizers": []any{"example.com/wait"}})
}

func (w *writing) remove(now *unstructured.Unstructured) request {
	w.on.what = "the end of " + w.on.what
	o := metav1.DeleteOptions{}
	switch w.r.IntN(6) {
	case 0:
		o.Preconditions = &metav1.Preconditions{UID: new(now.GetUID())}
		w.on.what += ", with its UID"
	case 1:
		w.on.what += ", at version " + w.condition(func(version string) { o.Preconditions = &metav1.Preconditions{ResourceVersion: &version} })
	case 2:
		o.PropagationPolicy = new(metav1.DeletePropagationForeground)
		w.on.what += ", after its dependents"
	}
	o.DryRun = w.dryRun()
	stored := w.stored()[w.on.key]
	w.on.unsure = stored == nil || stored.GetUID() != now.GetUID() || w.on.fate == heldRequest
	name := w.on.key.Name
	return func(ctx context.Context, c dynamic.ResourceInterface) error { return c.Delete(ctx, name, o) }
}

// goOn lets a held write continue.
func (w *ownWorld) goOn(r *rand.Rand) {
	var held []*ownWrite
	for _, on := range w.writes {
		if on.held() {
			held = append(held, on)
		}
	}
	if len(held) == 0 {
		return
	}
	on := held[r.IntN(len(held))]
	w.trace.addLine("%s", on.what)
	close(on.released)
}

// expectReturned checks that the informer does not block a call of the program.
func (w *ownWorld) expectReturned() {
	time.Sleep(300 * time.Millisecond)
	waits := func(on *ownWrite) bool { return !on.held() && !kit.Closed(on.done) }
	if slices.ContainsFunc(w.writes, waits) {
		time.Sleep(1200 * time.Millisecond)
	}
	if i := slices.IndexFunc(w.writes, waits); i >= 0 {
		w.fault("call", "the call for %s does not return", w.writes[i].what)
	}
}
