package informertest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/tidemark-k8s/tidemark/internal/verify"
)

var (
	configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")
	pods       = corev1.SchemeGroupVersion.WithResource("pods")
	nodes      = corev1.SchemeGroupVersion.WithResource("nodes")
)

// testWrite describes a write by a test.
var testWrite = writing{view: viewWhole}

func newTestModel(t *testing.T) *model {
	t.Helper()
	m := newModel()
	for _, k := range builtinKinds() {
		resolved, err := resolve(scheme.Scheme, k)
		require.NoError(t, err)
		m.register(resolved)
	}
	return m
}

// newPod returns a pod. labels has keys and values in turn.
func newPod(namespace, name string, labels ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{}}}
	for i := 0; i < len(labels); i += 2 {
		p.Labels[labels[i]] = labels[i+1]
	}
	return p
}

func (m *model) check() {
	for _, c := range m.collections {
		c.check(m.version)
	}
}

// check panics if an invariant is broken.
func (c *collection) check(version uint64) {
	verify.That(len(c.items) == len(c.paths), "%d items and %d paths", len(c.items), len(c.paths))
	verify.That(!c.sorted || slices.IsSorted(c.paths), "the paths are not in order")
	for _, path := range c.paths {
		states := c.items[path]
		verify.That(len(states) > 0 && states[len(states)-1].version <= version, "%q has no state, or a state from the future", path)
		for i, s := range states {
			verify.That(i == 0 || states[i-1].version < s.version, "the versions of %q do not ascend", path)
			verify.That(s.object == nil || s.object.GetResourceVersion() == format(s.version), "%q does not have the version of its state", path)
		}
	}
	last := c.oldest
	for ; last.next != nil; last = last.next {
		verify.That(last.version <= last.next.version, "the history does not ascend at %d", last.version)
	}
	verify.That(last == c.newest && last.version <= version, "the history does not end at its newest change")
}

func (m *model) mustCreate(t *testing.T, obj apiObject) apiObject {
	t.Helper()
	created, err := m.create(pods, obj.GetNamespace(), testWrite, obj)
	require.NoError(t, err)
	m.check()
	return created
}

func (m *model) mustUpdate(t *testing.T, obj apiObject) apiObject {
	t.Helper()
	updated, err := m.update(pods, obj.GetNamespace(), testWrite, obj)
	require.NoError(t, err)
	m.check()
	return updated
}

func (m *model) mustDelete(t *testing.T, namespace, name string) {
	t.Helper()
	_, _, err := m.delete(pods, namespace, name, testWrite, metav1.DeleteOptions{})
	require.NoError(t, err)
	m.check()
}

func (m *model) listed(namespace string, o metav1.ListOptions) (page, error) {
	internal, err := internalOptions(o)
	if err != nil {
		return page{}, err
	}
	_, p, err := m.list(pods, namespace, internal)
	return p, err
}

func (m *model) watched(namespace string, o metav1.ListOptions) (*cursor, error) {
	o.Watch = true
	internal, err := internalOptions(o)
	if err != nil {
		return nil, err
	}
	return m.watch(pods, namespace, internal)
}

func (m *model) mustWatch(t *testing.T, namespace string, o metav1.ListOptions) *cursor {
	t.Helper()
	c, err := m.watched(namespace, o)
	require.NoError(t, err)
	return c
}

// names describes the objects of a page as "namespace/name@version".
func names(p page) []string {
	spelled := []string{}
	for _, obj := range p.objects {
		spelled = append(spelled, spell(obj.(apiObject)))
	}
	return spelled
}

func spell(obj apiObject) string {
	return pathOf(obj.GetNamespace(), obj.GetName()) + "@" + obj.GetResourceVersion()
}

// spellEvents describes events as "ADDED a/b@3", and the bookmark after the initial events as "END".
func spellEvents(events []watch.Event) []string {
	spelled := []string{}
	for _, e := range events {
		switch obj := e.Object.(type) {
		case *metav1.Status:
			spelled = append(spelled, fmt.Sprintf("ERROR %d %s", obj.Code, obj.Reason))
		case apiObject:
			word := string(e.Type)
			if obj.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
				word = "END"
			}
			spelled = append(spelled, word+" "+spell(obj))
		}
	}
	return spelled
}
