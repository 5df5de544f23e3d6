package refs

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// widget is a custom resource whose Go type has types of k8s.io/api in all sorts of places.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   widgetSpec `json:"spec"`
	Status widgetSpec `json:"status"`
}

type widgetSpec struct {
	Template *corev1.PodTemplateSpec         `json:"template"`
	Sources  map[string]*corev1.EnvVarSource `json:"sources"`
	Backends [2]networkingv1.IngressBackend  `json:"backends"`
	Volume   corev1.VolumeSource             `json:",inline"`
	Parts    []widgetSpec                    `json:"parts"`
	Own      ownReference                    `json:"own"`
	Next     *widgetSpec                     `json:"next"`
	Local    corev1.LocalObjectReference     `json:"local"` // of which kind, no rule says
	NodeName string                          `json:"nodeName"`
	hidden   corev1.SecretReference          //nolint:unused // a walk that enters it panics

	*corev1.GlusterfsVolumeSource `json:",inline"`
	OwnParts                      `json:",inline"`
}

// OwnParts is embedded in a widget, and has a pointer embedded in itself.
type OwnParts struct {
	Extra                             string `json:"extra"`
	*corev1.PersistentVolumeClaimSpec `json:",inline"`
}

// ownReference is a reference of k8s.io/api with something more.
type ownReference struct {
	corev1.SecretReference `json:",inline"`
	Key                    string `json:"key"`
}

// In finds what a slow walk through the value finds, by the same rules.
func FuzzReferences(f *testing.F) {
	types := append(kinds(), reflect.TypeFor[widget]())
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		for more() {
			v := reflect.New(types[r.IntN(len(types))])
			fill(v.Elem(), r, 12)
			namespace := []string{"", "shop"}[r.IntN(2)]
			want := slow(v.Elem(), namespace, nil)
			same(t, want, In(namespace, v.Interface()), v)
			same(t, want, In(namespace, v.Elem().Interface()), v)
		}
	})
}

// The twins agree on random objects, until each rule has found something in one of them.
func TestEachRuleFindsSomething(t *testing.T) {
	tier.SkipRaced(t)
	r := rand.New(rand.NewPCG(1, 1))
	left := map[*rule]bool{}
	for _, rules := range byField {
		for _, r := range rules {
			left[r] = true
		}
	}
	for round := 0; round < 200 && len(left) > 0; round++ {
		for _, kind := range append(kinds(), reflect.TypeFor[widget]()) {
			v := reflect.New(kind)
			fill(v.Elem(), r, 13)
			var want []Ref
			slowly(v.Elem(), "shop", nil, func(rule *rule, ref Ref) {
				delete(left, rule)
				want = append(want, ref)
			})
			same(t, want, In("shop", v.Interface()), kind)
		}
	}
	for rule := range left {
		t.Errorf("nothing by %v", *rule)
	}
}

// same is require.ElementsMatch in less time.
func same(t *testing.T, want, got []Ref, of any) {
	t.Helper()
	order := func(a, b Ref) int { return strings.Compare(a.String(), b.String()) }
	slices.SortFunc(want, order)
	slices.SortFunc(got, order)
	require.Equal(t, want, got, "of %v", of)
}

// texts are the values of fields, by their names; all others are names.
var texts = map[string][]string{
	"kind":       {"", "Secret", "Role", "ClusterRole", "ServiceAccount", "User", "PersistentVolumeClaim"},
	"apiVersion": {"", "v1", "apps/v1"},
	"apiGroup":   {"", "apps"},
	"group":      {"", "", "apps"},
	"resource":   {"services", "services", "pods"},
}

// fill gives a value random content, in fields of k8s.io/api and of this package.
func fill(v reflect.Value, r *rand.Rand, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if depth > 0 && r.IntN(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), r, depth-1)
		}
	case reflect.Slice:
		n := r.IntN(3) * max(0, min(depth, 1))
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), r, depth-2)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		if v.Type().Key().Kind() == reflect.String && depth > 0 {
			elem := reflect.New(v.Type().Elem()).Elem()
			fill(elem, r, depth-2)
			v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), elem)
		}
	case reflect.String:
		v.SetString([]string{"", "a", "b"}[r.IntN(3)])
	case reflect.Struct:
		if path := v.Type().PkgPath(); !strings.HasPrefix(path, "k8s.io/api/") && !strings.HasSuffix(path, "/refs") {
			return
		}
		for _, f := range reflect.VisibleFields(v.Type()) {
			if !f.IsExported() || len(f.Index) > 1 {
				continue
			}
			fill(v.FieldByIndex(f.Index), r, depth-1)
			if known := texts[jsonName(f)]; known != nil && f.Type.Kind() == reflect.String {
				v.FieldByIndex(f.Index).SetString(known[r.IntN(len(known))])
			}
		}
	}
}

// slow is the slow, obvious twin of In.
func slow(v reflect.Value, namespace string, r *rule) (all []Ref) {
	slowly(v, namespace, r, func(_ *rule, ref Ref) { all = append(all, ref) })
	return all
}

func slowly(v reflect.Value, namespace string, r *rule, found func(*rule, Ref)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			slowly(v.Elem(), namespace, r, found)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			slowly(v.Index(i), namespace, r, found)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			slowly(v.MapIndex(key), namespace, r, found)
		}
	case reflect.Struct:
		for _, f := range fieldsOf(v) {
			slowField(v, f, namespace, r, found)
		}
	}
}

// fieldsOf returns the fields of a struct that JSON has, those of embedded pointers included.
func fieldsOf(v reflect.Value) []reflect.StructField {
	return slices.DeleteFunc(jsonFields(v.Type()), func(f reflect.StructField) bool {
		_, err := v.FieldByIndexErr(f.Index)
		return err != nil // in a nil
	})
}

// slowField walks through a field, in a struct in a field with a rule or, without one, in any other.
func slowField(in reflect.Value, f reflect.StructField, namespace string, r *rule, found func(*rule, Ref)) {
	name, v := jsonName(f), in.FieldByIndex(f.Index)
	var known []*rule
	if r != nil && name == "name" {
		known = []*rule{r}
	}
	for n := range f.Index { // by the outermost struct that has a rule
		t := in.FieldByIndex(f.Index[:n]).Type()
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if version, ours := strings.CutPrefix(t.PkgPath(), "k8s.io/api/"); r == nil && known == nil && ours {
			known = byField[version[:strings.LastIndex(version, "/")]+"."+t.Name()+"."+name]
		}
	}
	for _, rule := range known {
		text, isText := textOfValue(v)
		if !isText {
			slowly(v, namespace, rule, found)
		} else if ref, ok := slowRef(in, name, text, namespace, rule); ok {
			found(rule, ref)
		}
	}
	if r == nil && known == nil && name != "status" {
		slowly(v, namespace, nil, found)
	}
}

func slowRef(in reflect.Value, field, name, namespace string, r *rule) (Ref, bool) {
	beside := func(name string) string {
		for _, f := range fieldsOf(in) {
			if jsonName(f) == name {
				text, _ := textOfValue(in.FieldByIndex(f.Index))
				return text
			}
		}
		return ""
	}
	kind, group, _ := strings.Cut(r.kind, ".")
	own := beside("kind")
	if field != "name" {
		own = ""
	}
	switch version := beside("apiVersion"); {
	case r.kind == written && strings.Contains(version, "/"):
		group, _, _ = strings.Cut(version, "/")
	case r.kind == written:
		group = beside("apiGroup")
	}
	switch {
	case r.kind == written:
		kind = own
	case own != "" && own != kind, in.Type().Name() == "ParentReference" && beside("group")+"/"+beside("resource") != "/services":
		return Ref{}, false
	}
	switch {
	case r.namespace == cluster:
		namespace = ""
	case r.namespace != local && (beside(r.namespace) != "" || r.kind == written && isString(in, r.namespace)):
		namespace = beside(r.namespace)
	}
	return Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}, name != "" && kind != ""
}

// isString reports whether a struct has a field of a name that is a string, and no pointer to one.
func isString(in reflect.Value, name string) bool {
	return slices.ContainsFunc(fieldsOf(in), func(f reflect.StructField) bool { return jsonName(f) == name && f.Type.Kind() == reflect.String })
}

func textOfValue(v reflect.Value) (text string, is bool) {
	if v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.String {
		if v.IsNil() {
			return "", true
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.String {
		return "", false
	}
	return v.String(), true
}
