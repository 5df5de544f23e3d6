package sharepass

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/tidemark-k8s/tidemark/internal/gotype"
	"github.com/tidemark-k8s/tidemark/internal/share"
	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
)

// passed makes equal objects and passes them until the last two share every value that may be shared.
// Values that compete for a slot of the table take several passes.
func passed[T any](build func() *T) (a, b *T) {
	pass := New(share.New(0))
	for range 100 {
		a, b = b, build()
		b = pass.Share(b, b).(*T)
	}
	return a, b
}

func samePointer(t *testing.T, a, b any, same bool, what string) {
	t.Helper()
	assert.Equal(t, same, reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer(), what)
}

func TestPodsShareTheirTemplate(t *testing.T) {
	build := func() *corev1.Pod {
		p := podOf(1)
		p.Spec.NodeSelector = map[string]string{"disk": "ssd"}
		return p
	}
	a, b := passed(build)
	assert.Equal(t, build(), b)
	for what, pair := range map[string][2]any{
		"a slice":   {a.Spec.Containers, b.Spec.Containers},
		"a pointer": {a.Spec.Affinity, b.Spec.Affinity},
		"a scalar":  {a.Spec.Priority, b.Spec.Priority},
		"statuses":  {a.Status.ContainerStatuses, b.Status.ContainerStatuses},
	} {
		samePointer(t, pair[0], pair[1], true, what)
	}
	for what, pair := range map[string][2]any{
		"labels":       {a.Labels, b.Labels},
		"annotations":  {a.Annotations, b.Annotations},
		"owners":       {a.OwnerReferences, b.OwnerReferences},
		"nodeSelector": {a.Spec.NodeSelector, b.Spec.NodeSelector},
	} {
		samePointer(t, pair[0], pair[1], false, what)
	}
}

// The pods of one owner differ in the name of a volume. The values that contain this name belong to each
// pod, and the other values are shared.
func TestPartsOfAnElementAreShared(t *testing.T) {
	i := 0
	first, second := passed(func() *corev1.Pod { i++; return podOf(i * owners) })
	assert.Equal(t, podOf(i*owners), second)
	a, b := first.Spec, second.Spec
	samePointer(t, a.Containers, b.Containers, false, "containers")
	samePointer(t, a.Containers[0].Env, b.Containers[0].Env, true, "env")
	samePointer(t, a.Containers[0].Resources.Requests, b.Containers[0].Resources.Requests, true, "a map")
	samePointer(t, a.Volumes[2].Projected, b.Volumes[2].Projected, true, "a pointer in an element")
}

func TestSharedSlicesHaveNoRoom(t *testing.T) {
	_, b := passed(func() *corev1.Pod {
		p := podOf(1)
		p.Spec.Tolerations = slices.Grow(p.Spec.Tolerations, 10)
		return p
	})
	assert.Equal(t, len(b.Spec.Tolerations), cap(b.Spec.Tolerations))
}

func TestTemplatesKeepTheirMetadata(t *testing.T) {
	build := func() *appsv1.StatefulSet {
		claim := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}}
		claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{"ReadWriteOnce"}
		s := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{VolumeClaimTemplates: []corev1.PersistentVolumeClaim{claim}}}
		s.Spec.Template.Labels = map[string]string{"a": "b"}
		s.Spec.Template.Spec = podOf(1).Spec
		s.Spec.Template.Spec.Volumes = append(s.Spec.Template.Spec.Volumes, corev1.Volume{VolumeSource: corev1.VolumeSource{
			Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: claim.Spec}},
		}})
		return s
	}
	a, b := passed(build)
	assert.Equal(t, build(), b)
	samePointer(t, a.Spec.Template.Labels, b.Spec.Template.Labels, false, "labels of a template")
	samePointer(t, a.Spec.Template.Spec.Containers, b.Spec.Template.Spec.Containers, true, "the containers of a template")
	samePointer(t, a.Spec.VolumeClaimTemplates, b.Spec.VolumeClaimTemplates, false, "a list of objects")
	samePointer(t, a.Spec.VolumeClaimTemplates[0].Spec.AccessModes, b.Spec.VolumeClaimTemplates[0].Spec.AccessModes, true, "a part of one of these objects")
	samePointer(t, a.Spec.VolumeClaimTemplates[0].Labels, b.Spec.VolumeClaimTemplates[0].Labels, false, "labels of one of these objects")
	samePointer(t, a.Spec.Template.Spec.Volumes, b.Spec.Template.Spec.Volumes, false, "a list that contains a template")
}

func TestFieldsV1IsSharedAlone(t *testing.T) {
	build := func() *metav1.PartialObjectMetadata {
		f := &metav1.FieldsV1{}
		f.SetRawBytes([]byte(`{"f:spec":{}}`))
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "kubelet", FieldsV1: f, Time: ptr(metav1.Unix(1, 0))},
		}}}
	}
	a, b := passed(build)
	assert.Equal(t, build(), b)
	samePointer(t, a.ManagedFields, b.ManagedFields, false, "managedFields")
	samePointer(t, a.ManagedFields[0].Time, b.ManagedFields[0].Time, false, "a time")
	samePointer(t, a.ManagedFields[0].FieldsV1, b.ManagedFields[0].FieldsV1, true, "fieldsV1")
}

func TestUnstructuredObjectsShare(t *testing.T) {
	build := func() *unstructured.Unstructured {
		ports := []any{map[string]any{"port": int64(80)}}
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{
				"name": "a", "labels": map[string]any{"a": "b"}, "finalizers": []any{"f"},
				"managedFields": []any{map[string]any{"manager": "m", "fieldsV1": map[string]any{"f:spec": map[string]any{}}}},
			},
			"spec": map[string]any{"ports": ports, "template": map[string]any{"metadata": map[string]any{"labels": map[string]any{}}, "spec": map[string]any{"x": ports}},
				"nodeSelector": map[string]any{"disk": "ssd"}, "list": []any{[]any{"a"}, []any{"b"}}},
			"data":   map[string]any{"k": map[string]any{"a": "b"}},
			"status": map[string]any{"phase": "Ready"},
		}}
	}
	a, b := passed(build)
	assert.Equal(t, build(), b)
	at := func(u *unstructured.Unstructured, path ...string) any {
		v, ok, err := unstructured.NestedFieldNoCopy(u.Object, path...)
		require.True(t, ok && err == nil)
		return v
	}
	fieldsV1 := func(u *unstructured.Unstructured) any {
		return at(u, "metadata", "managedFields").([]any)[0].(map[string]any)["fieldsV1"]
	}
	for _, path := range []string{"status", "spec.ports", "spec.list", "spec.template.spec"} {
		samePointer(t, at(a, strings.Split(path, ".")...), at(b, strings.Split(path, ".")...), true, path)
	}
	samePointer(t, fieldsV1(a), fieldsV1(b), true, "fieldsV1")
	for _, path := range []string{"metadata", "metadata.labels", "metadata.finalizers", "metadata.managedFields", "spec", "spec.template", "spec.template.metadata", "spec.nodeSelector", "data", "data.k"} {
		samePointer(t, at(a, strings.Split(path, ".")...), at(b, strings.Split(path, ".")...), false, path)
	}
}

func TestRootMapIsNotShared(t *testing.T) {
	a, b := passed(func() *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"a": "b"}}}
	})
	samePointer(t, a.Object, b.Object, false, "the root")
	samePointer(t, a.Object["spec"], b.Object["spec"], true, "the values below the root")
}

// The order of a map's entries does not matter.
func TestOrderOfMapsDoesNotCount(t *testing.T) {
	a, b := passed(func() *corev1.Pod {
		p := &corev1.Pod{Spec: corev1.PodSpec{Overhead: corev1.ResourceList{}}}
		for i := range 20 {
			p.Spec.Overhead[corev1.ResourceName(fmt.Sprint(i))] = resource.MustParse("1")
		}
		return p
	})
	samePointer(t, a.Spec.Overhead, b.Spec.Overhead, true, "typed")
	c, d := passed(func() *unstructured.Unstructured {
		spec := map[string]any{}
		for i := range 20 {
			spec[fmt.Sprint(i)] = int64(i)
		}
		return &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	})
	samePointer(t, c.Object["spec"], d.Object["spec"], true, "untyped")
}

// The sites of unstructured values are made from keys of objects, so their number must be limited.
func TestUnstructuredKeysDoNotMakeSitesForEver(t *testing.T) {
	pass := New(share.New(0))
	for i := range 3 * mostSpots {
		u := &unstructured.Unstructured{Object: map[string]any{fmt.Sprint(i): map[string]any{}}}
		pass.Share(u, u)
	}
	assert.LessOrEqual(t, len(spots.byKey), mostSpots)
	assert.LessOrEqual(t, len(pass.walk.spots), mostSpots)
}

func TestOnlyTheVeryPointerIsTouched(t *testing.T) {
	pass := New(share.New(0))
	for range 3 {
		p := podOf(1)
		pass.Share(p, p)
	}
	other, list := podOf(1), &corev1.PodList{Items: []corev1.Pod{*podOf(1)}}
	env := other.Spec.Containers[0].Env
	var none *corev1.Pod
	for _, pair := range [][2]any{{podOf(1), other}, {nil, other}, {other, *other}, {other, nil}, {other, list}, {none, none}, {[]int{1}, []int{1}}, {ptr(1), ptr(1)}} {
		got := pass.Share(pair[0], pair[1])
		require.Equal(t, pair[1], got)
		if reflect.ValueOf(got).Kind() == reflect.Pointer {
			samePointer(t, pair[1], got, true, "it is no copy")
		}
	}
	number := ptr(1)
	require.Same(t, number, pass.Share(number, number))
	require.Same(t, other, New(nil).Share(other, other))
	samePointer(t, env, other.Spec.Containers[0].Env, true, "nothing was replaced")
}

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

func TestTimesOfOtherPlacesAreNotShared(t *testing.T) {
	for name, test := range map[string]struct {
		at     time.Time
		shared bool
	}{
		"local":     {time.Unix(1, 0), true},
		"UTC":       {time.Unix(1, 0).UTC(), true},
		"zero":      {time.Time{}, true},
		"a zone":    {time.Unix(1, 0).In(time.FixedZone("X", 60)), false},
		"monotonic": {time.Now(), false},
	} {
		a, b := passed(func() *corev1.Pod {
			return &corev1.Pod{Status: corev1.PodStatus{StartTime: &metav1.Time{Time: test.at}}}
		})
		samePointer(t, a.Status.StartTime, b.Status.StartTime, test.shared, name)
	}
}

func quantities(q resource.Quantity) func() *corev1.Pod {
	return func() *corev1.Pod {
		size := q.DeepCopy()
		return &corev1.Pod{Spec: corev1.PodSpec{
			Overhead: corev1.ResourceList{"cpu": q.DeepCopy()},
			Volumes:  []corev1.Volume{{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &size}}}},
			Containers: []corev1.Container{{Env: []corev1.EnvVar{{Name: "CPU", ValueFrom: &corev1.EnvVarSource{
				ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu", Divisor: q.DeepCopy()},
			}}}}},
		}}
	}
}

// Methods such as AsDec write into a Quantity that they can address.
func TestQuantitiesAreSharedInMapsOnly(t *testing.T) {
	a, b := passed(quantities(resource.MustParse("250m")))
	samePointer(t, a.Spec.Overhead, b.Spec.Overhead, true, "in a map")
	samePointer(t, a.Spec.Volumes, b.Spec.Volumes, false, "by a pointer")
	samePointer(t, a.Spec.Volumes[0].EmptyDir.SizeLimit, b.Spec.Volumes[0].EmptyDir.SizeLimit, false, "by a pointer")
	samePointer(t, a.Spec.Containers[0].Env[0].ValueFrom, b.Spec.Containers[0].Env[0].ValueFrom, false, "in a struct")

	a, b = passed(quantities(resource.MustParse("0.12345678912")))
	samePointer(t, a.Spec.Overhead, b.Spec.Overhead, false, "a big one")
}

// Methods of Quantities may run concurrently on two objects that share values.
func TestMethodsOfSharedQuantitiesDoNotRace(t *testing.T) {
	a, b := passed(quantities(resource.MustParse("250m")))
	samePointer(t, a.Spec.Overhead, b.Spec.Overhead, true, "a map")
	var wg sync.WaitGroup
	for _, p := range []*corev1.Pod{a, b} {
		wg.Go(func() {
			q := p.Spec.Overhead["cpu"]
			callAll(&q)
			callAll(p.Spec.Volumes[0].EmptyDir.SizeLimit)
			callAll(&p.Spec.Containers[0].Env[0].ValueFrom.ResourceFieldRef.Divisor)
			callAll(p.Spec.Overhead.Cpu())
		})
	}
	wg.Wait()
	got := a.Spec.Overhead["cpu"]
	assert.Zero(t, got.Cmp(resource.MustParse("250m")))
}

// callAll calls every method of a Quantity that takes no arguments or another Quantity.
func callAll(q *resource.Quantity) {
	v, other := reflect.ValueOf(q), reflect.ValueOf(resource.MustParse("0.12345678912"))
	for i := range v.NumMethod() {
		if m := v.Method(i); m.Type().NumIn() == 0 {
			m.Call(nil)
		} else if m.Type().NumIn() == 1 && m.Type().In(0) == other.Type() {
			m.Call([]reflect.Value{other})
		}
	}
}

func TestObjectsOfAllKindsStayEqual(t *testing.T) {
	for gvk, typ := range scheme.Scheme.AllKnownTypes() {
		if typ.Kind() != reflect.Struct {
			continue
		}
		r := rand.New(rand.NewPCG(1, uint64(len(gvk.String()))))
		playTyped(t, typ, 12, r)
		require.False(t, t.Failed(), gvk.String())
	}
}

// playTyped passes random objects, and compares each with a twin that was not passed. Some objects are
// copies of earlier objects, and some have fields of a foreign object.
func playTyped(t *testing.T, typ reflect.Type, objects int, r *rand.Rand) {
	pass, f := New(share.New(1<<20)), filler{r}
	var all, twins []runtime.Object
	foreign := reflect.New(typ)
	f.fill(foreign.Elem(), 6)
	frozen := foreign.Interface().(runtime.Object).DeepCopyObject()
	for range objects {
		v := reflect.New(typ)
		switch {
		case len(all) > 0 && r.IntN(2) == 0:
			v = reflect.ValueOf(twins[r.IntN(len(all))].DeepCopyObject())
		default:
			f.fill(v.Elem(), 6)
		}
		for i := range typ.NumField() {
			if r.IntN(4) == 0 {
				v.Elem().Field(i).Set(foreign.Elem().Field(i))
			}
		}
		o := v.Interface().(runtime.Object)
		twin := o.DeepCopyObject()
		if !reflect.DeepEqual(o, twin) {
			continue // such as a Quantity whose text DeepCopy drops
		}
		all, twins = append(all, pass.Share(o, o).(runtime.Object)), append(twins, twin)
		require.True(t, reflect.DeepEqual(twin, o), "what the transform has seen does not change")
	}
	for i := range all {
		require.True(t, reflect.DeepEqual(twins[i], all[i]), "%s\n%#v\n%#v", typ, twins[i], all[i])
	}
	if reflect.DeepEqual(frozen, foreign.Interface()) {
		checkApart(t, all, foreign.Interface())
	}
}

// checkApart fails if two objects share a value that programs write into, unless it is foreign.
func checkApart(t *testing.T, all []runtime.Object, foreign any) {
	seen, theirs := map[unsafe.Pointer]bool{}, map[unsafe.Pointer]bool{}
	written(reflect.ValueOf(foreign), "", false, func(p unsafe.Pointer, _ string) { theirs[p] = true })
	for _, o := range all {
		own := map[unsafe.Pointer]string{}
		written(reflect.ValueOf(o), "", false, func(p unsafe.Pointer, path string) { own[p] = path })
		for p, path := range own {
			assert.False(t, seen[p] && !theirs[p], "%T shares %s", o, path)
			seen[p] = true
		}
	}
}

// owns are the names of the fields that programs write into.
var owns = map[string]bool{"metadata": true, "data": true, "stringData": true, "binaryData": true, "nodeSelector": true}

// written reports the references in an object that programs write into.
func written(v reflect.Value, path string, in bool, report func(unsafe.Pointer, string)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() || v.Type() == reflect.PointerTo(gotype.FieldsV1) {
			return
		}
		if in && (v.Kind() != reflect.Slice || v.Len() > 0) && (v.Kind() != reflect.Pointer || v.Type().Elem().Size() > 0) {
			report(v.UnsafePointer(), path)
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		written(v.Elem(), path, in, report)
	case reflect.Slice:
		for i := range v.Len() {
			written(v.Index(i), path+"[]", in, report)
		}
	case reflect.Map:
		for _, e := range v.Seq2() {
			written(e, path+"{}", in, report)
		}
	case reflect.Struct:
		if v.Type() == gotype.GoTime || v.Type() == gotype.Quantity {
			return
		}
		in = in || v.Type() == gotype.ObjectMeta
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() {
				written(v.Field(i), path+"."+f.Name, in || owns[name], report)
			}
		}
	}
}

func FuzzPods(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		for more() {
			playTyped(t, reflect.TypeFor[corev1.Pod](), 6, r)
		}
	})
}

func FuzzUnstructured(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		pass, fill := New(share.New(1<<20)), filler{r}
		var all, twins []map[string]any
		for more() {
			o, _ := fill.untyped(5).(map[string]any)
			if len(all) > 0 && r.IntN(2) == 0 {
				o = runtime.DeepCopyJSON(twins[r.IntN(len(twins))])
			}
			if len(all) > 0 && o != nil && r.IntN(8) == 0 {
				o["foreign"] = all[r.IntN(len(all))]["a"]
			}
			u := &unstructured.Unstructured{Object: o}
			twins = append(twins, runtime.DeepCopyJSON(o))
			all = append(all, pass.Share(u, u).(*unstructured.Unstructured).Object)
		}
		require.True(t, reflect.DeepEqual(twins, all))
	})
}

// Two encodings are equal if and only if their values are equal.
func FuzzEncodingIsTheValue(f *testing.F) {
	type holder struct {
		A *corev1.PodSpec
		B map[string][]map[string]*int
		C [][]byte
	}
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		encode := func(h *holder) (string, bool) {
			var w walk
			v := reflect.ValueOf(h)
			apart := w.leaves(v.UnsafePointer(), planOf(v.Type().Elem()), 0)
			return string(w.buf), apart || w.failed
		}
		a, b := &holder{}, &holder{}
		for _, h := range []*holder{a, b} {
			filler{r}.fill(reflect.ValueOf(h).Elem(), 2+r.IntN(4))
		}
		if !more() {
			return
		}
		x, apartA := encode(a)
		y, apartB := encode(b)
		if !apartA && !apartB {
			require.Equal(t, reflect.DeepEqual(a, b), x == y)
		}
	})
}
