package sharepass

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/internal/share"
)

// A pass does not write into memory that a transform has added to an object, and the table keeps no
// reference to such memory.
func TestForeignMemoryIsLeftAlone(t *testing.T) {
	foreign := podOf(1).Spec
	foreign.Containers[0].LivenessProbe.HTTPGet.HTTPHeaders = []corev1.HTTPHeader{{Name: "a", Value: "b"}}
	frozen := foreign.DeepCopy()
	var addresses []unsafe.Pointer
	for _, c := range foreign.Containers {
		addresses = append(addresses, unsafe.Pointer(unsafe.SliceData(c.Env)), unsafe.Pointer(c.LivenessProbe))
	}
	pass, all := New(share.New(0)), []*corev1.Pod{}
	for i := range 5 {
		p := podOf(i * owners)
		if i < 4 {
			p.Spec.Containers, p.Spec.Affinity, p.Spec.Volumes = foreign.Containers, foreign.Affinity, foreign.Volumes
		} else {
			p.Spec = *frozen.DeepCopy()
		}
		all = append(all, pass.Share(p, p).(*corev1.Pod))
	}
	require.Equal(t, frozen, &foreign)
	for i, c := range foreign.Containers {
		assert.Equal(t, addresses[2*i], unsafe.Pointer(unsafe.SliceData(c.Env)))
		assert.Equal(t, addresses[2*i+1], unsafe.Pointer(c.LivenessProbe))
	}

	foreign.Containers[0].Env[0].Value = "changed"
	foreign.Containers[0].LivenessProbe.HTTPGet.HTTPHeaders[0].Value = "changed"
	foreign.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm.LabelSelector.MatchLabels["app"] = "changed"
	assert.Equal(t, frozen.Containers, all[4].Spec.Containers, "an object without foreign memory")
	assert.Equal(t, frozen.Affinity, all[4].Spec.Affinity)
}

func TestForeignMapsOfUnstructuredObjectsAreLeftAlone(t *testing.T) {
	inner := map[string]any{"a": []any{"b", map[string]any{"c": "d"}}}
	foreign := map[string]any{"spec": map[string]any{"inner": inner, "metadata": map[string]any{}}}
	frozen := runtime.DeepCopyJSON(foreign)
	pass := New(share.New(0))
	for range 4 {
		u := &unstructured.Unstructured{Object: foreign}
		assert.Equal(t, frozen, pass.Share(u, u).(*unstructured.Unstructured).Object)
	}
	samePointer(t, inner, foreign["spec"].(map[string]any)["inner"], true, "the user's map")
	inner["a"].([]any)[1].(map[string]any)["c"] = "changed"
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(frozen)}
	assert.Equal(t, frozen, pass.Share(u, u).(*unstructured.Unstructured).Object)
}

type linked struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Next  *linked
	Many  []*linked
	Plain []string
	Guard *guarded
	Any   any
	Array [2]string
	ByInt map[int]string
	Lists map[string][]*string
}

// The table does not keep a reference to a foreign map or to memory that its values refer to.
func TestForeignMapsAreCopiedWhole(t *testing.T) {
	foreign := map[string][]*string{"a": {ptr("b")}, "none": nil}
	pass := New(share.New(0))
	for range 3 {
		o := &linked{Lists: foreign}
		pass.Share(o, o)
	}
	*foreign["a"][0] = "changed"
	own := func() *linked { return &linked{Lists: map[string][]*string{"a": {ptr("b")}, "none": nil}} }
	o := own()
	assert.Equal(t, own().Lists, pass.Share(o, o).(*linked).Lists)
}

type guarded struct {
	Names []string
	_     sync.Mutex
}

// A transform may make an object that contains itself, or whose walk takes exponential time.
func TestCirclesAndLatticesStayAsTheyAre(t *testing.T) {
	circle := &linked{Plain: []string{"a"}}
	circle.Next = circle
	lattice := &linked{}
	for range 60 {
		lattice = &linked{Many: []*linked{lattice, lattice}}
	}
	loop := map[string]any{}
	loop["spec"] = loop
	pass := New(share.New(0))
	for range 3 {
		pass.Share(circle, circle)
		pass.Share(lattice, lattice)
		u := &unstructured.Unstructured{Object: loop}
		pass.Share(u, u)
	}
	assert.Zero(t, pass.table.Stats().Values)
	assert.Same(t, circle, circle.Next)
	assert.LessOrEqual(t, cap(pass.walk.nodes), keptNodes)
}

func TestWhatCannotBeEncodedIsNotShared(t *testing.T) {
	for name, build := range map[string]func() *linked{
		"a private field": func() *linked { return &linked{Guard: &guarded{Names: []string{"a"}}} },
		"an interface":    func() *linked { return &linked{Many: []*linked{{Any: "a"}}} },
		"an array":        func() *linked { return &linked{Many: []*linked{{Array: [2]string{"a"}}}} },
		"a map by number": func() *linked { return &linked{Many: []*linked{{ByInt: map[int]string{1: "a"}}}} },
	} {
		a, b := passed(build)
		assert.Equal(t, build(), b, name)
		samePointer(t, a.Guard, b.Guard, a.Guard == nil, name)
		samePointer(t, a.Many, b.Many, a.Many == nil, name)
	}
}
