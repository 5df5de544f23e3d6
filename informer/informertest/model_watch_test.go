package informertest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var yes, no = true, false

const notOlderThan = metav1.ResourceVersionMatchNotOlderThan

// streaming has the options of a watch with the initial state.
func streaming(version string) metav1.ListOptions {
	return metav1.ListOptions{SendInitialEvents: &yes, ResourceVersionMatch: notOlderThan, AllowWatchBookmarks: true, ResourceVersion: version}
}

func TestWatchBegins(t *testing.T) {
	m := newTestModel(t)
	m.mustCreate(t, newPod("b", "q"))           // 2
	m.mustCreate(t, newPod("a", "p"))           // 3
	m.mustUpdate(t, newPod("a", "p", "x", "y")) // 4
	m.mustCreate(t, newPod("c", "r"))           // 5
	m.mustDelete(t, "c", "r")                   // 6

	state := []string{"ADDED a/p@4", "ADDED b/q@2"}
	for _, row := range []struct {
		name    string
		options metav1.ListOptions
		want    []string
	}{
		{"with the state, of old", metav1.ListOptions{}, state},
		{"with any state, of old", metav1.ListOptions{ResourceVersion: "0"}, state},
		{"of old, on a server that streams", metav1.ListOptions{AllowWatchBookmarks: true}, append(state[:2:2], "END @6")},
		{"after a version", metav1.ListOptions{ResourceVersion: "3"}, []string{"MODIFIED a/p@4", "ADDED c/r@5", "DELETED c/r@6"}},
		{"after all", metav1.ListOptions{ResourceVersion: "6"}, []string{}},
		{"from now on", metav1.ListOptions{SendInitialEvents: &no, ResourceVersionMatch: notOlderThan}, []string{}},
		{"without the state, after a version", metav1.ListOptions{SendInitialEvents: &no, ResourceVersionMatch: notOlderThan, ResourceVersion: "5"}, []string{"DELETED c/r@6"}},
		{"with the state", streaming(""), append(state[:2:2], "END @6")},
		{"with any state", streaming("0"), append(state[:2:2], "END @6")},
		{"with a state not older", streaming("6"), append(state[:2:2], "END @6")},
		{"with the state, without bookmarks", metav1.ListOptions{SendInitialEvents: &yes, ResourceVersionMatch: notOlderThan}, state},
		{"with a state of the future", streaming("7"), []string{"ERROR 504 Timeout"}},
	} {
		c := m.mustWatch(t, "", row.options)
		assert.Equal(t, row.want, spellEvents(c.read()), row.name)
		assert.Empty(t, c.read(), row.name)
	}

	t.Run("on a server that does not stream", func(t *testing.T) {
		m.noWatchList = true
		_, err := m.watched("", streaming(""))
		assert.True(t, apierrors.IsInvalid(err), err)
		assert.ErrorContains(t, err, "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")
		c := m.mustWatch(t, "", metav1.ListOptions{AllowWatchBookmarks: true})
		assert.Equal(t, state, spellEvents(c.read()))
	})
}

func TestWatchesThatAreRefused(t *testing.T) {
	m := newTestModel(t)
	for _, row := range []struct {
		name    string
		options metav1.ListOptions
		is      func(error) bool
		says    string
	}{
		{"not a version", metav1.ListOptions{ResourceVersion: "x"}, isInternal, `resourceVersion: Invalid value: "x"`},
		{"a stream without a match", metav1.ListOptions{SendInitialEvents: &yes}, apierrors.IsInvalid, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
		{"an exact stream", metav1.ListOptions{SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchExact}, apierrors.IsInvalid, "resourceVersionMatch"},
		{"a match without a stream", metav1.ListOptions{ResourceVersionMatch: notOlderThan}, apierrors.IsInvalid, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"},
		{"unknown field", metav1.ListOptions{FieldSelector: "a.b=c"}, apierrors.IsBadRequest, "field label not supported"},
	} {
		_, err := m.watched("", row.options)
		assert.True(t, row.is(err), "%s: %v", row.name, err)
		assert.ErrorContains(t, err, row.says, row.name)
	}
	internal, err := internalOptions(metav1.ListOptions{})
	require.NoError(t, err)
	_, err = m.watch(nodes, "a", internal)
	assert.True(t, apierrors.IsNotFound(err), err)
}

func TestWatchOfTheFuture(t *testing.T) {
	m := newTestModel(t)
	c := m.mustWatch(t, "", metav1.ListOptions{ResourceVersion: "3", AllowWatchBookmarks: true})
	m.mustCreate(t, newPod("a", "p")) // 2
	m.bookmark()
	m.mustCreate(t, newPod("a", "q")) // 3
	m.bookmark()
	m.mustCreate(t, newPod("a", "r")) // 4
	assert.Equal(t, []string{"BOOKMARK @3", "ADDED a/r@4"}, spellEvents(c.read()))
}

func TestWatchSelects(t *testing.T) {
	m := newTestModel(t)
	web := m.mustWatch(t, "a", metav1.ListOptions{LabelSelector: "app=web"})
	placed := m.mustWatch(t, "", metav1.ListOptions{FieldSelector: "spec.nodeName=n1"})

	m.mustCreate(t, newPod("b", "p", "app", "web"))                   // 2: another namespace
	m.mustCreate(t, newPod("a", "p"))                                 // 3: does not match yet
	m.mustUpdate(t, newPod("a", "p", "app", "web"))                   // 4: matches
	m.mustUpdate(t, newPod("a", "p", "app", "web", "v", "2"))         // 5
	moved := m.mustUpdate(t, newPod("a", "p", "app", "db", "v", "2")) // 6: no longer matches
	bound := moved.DeepCopyObject().(*corev1.Pod)
	bound.Spec.NodeName = "n1"
	m.mustUpdate(t, bound)                          // 7: bound to a node
	m.mustUpdate(t, newPod("a", "p", "app", "web")) // 8: unbound, and matches again
	m.mustDelete(t, "a", "p")                       // 9
	m.mustDelete(t, "b", "p")                       // 10

	events := web.read()
	assert.Equal(t, []string{"ADDED a/p@4", "MODIFIED a/p@5", "DELETED a/p@6", "ADDED a/p@8", "DELETED a/p@9"}, spellEvents(events))
	assert.Equal(t, "web", events[2].Object.(*corev1.Pod).Labels["app"], "the last state that was selected")
	assert.Equal(t, []string{"ADDED a/p@7", "DELETED a/p@8"}, spellEvents(placed.read()))
}

func TestWatchAfterCompaction(t *testing.T) {
	m := newTestModel(t)
	m.mustCreate(t, newPod("a", "p")) // 2
	open := m.mustWatch(t, "", metav1.ListOptions{ResourceVersion: "1"})
	m.mustUpdate(t, newPod("a", "p", "x", "y")) // 3
	m.mustDelete(t, "a", "p")                   // 4
	m.compact()
	m.check()
	assert.Empty(t, m.collections[pods].items, "nothing is left of what was deleted")
	assert.Nil(t, m.collections[pods].oldest.next, "nor of the history")
	assert.Equal(t, []string{"ADDED a/p@2", "MODIFIED a/p@3", "DELETED a/p@4"}, spellEvents(open.read()), "an open watch misses nothing")

	c := m.mustWatch(t, "", metav1.ListOptions{ResourceVersion: "3"})
	m.mustCreate(t, newPod("a", "q")) // 5
	events := c.read()
	assert.Equal(t, []string{"ERROR 410 Expired"}, spellEvents(events), "and nothing after it")
	assert.Equal(t, "too old resource version: 3 (4)", events[0].Object.(*metav1.Status).Message)

	c = m.mustWatch(t, "", metav1.ListOptions{ResourceVersion: "4"})
	assert.Equal(t, []string{"ADDED a/q@5"}, spellEvents(c.read()), "where the compaction was, a watch can begin")
}

func TestBookmarks(t *testing.T) {
	m := newTestModel(t)
	m.bookmark()
	with := m.mustWatch(t, "a", metav1.ListOptions{ResourceVersion: "1", AllowWatchBookmarks: true})
	without := m.mustWatch(t, "a", metav1.ListOptions{ResourceVersion: "1"})

	m.mustCreate(t, newPod("b", "p")) // 2: another namespace, but still progress
	m.bookmark()
	m.bookmark()
	m.mustCreate(t, newPod("a", "p")) // 3
	m.bookmark()
	m.check()

	assert.Equal(t, []string{"BOOKMARK @2", "BOOKMARK @2", "ADDED a/p@3", "BOOKMARK @3"}, spellEvents(with.read()))
	assert.Equal(t, []string{"ADDED a/p@3"}, spellEvents(without.read()))
	late := m.mustWatch(t, "a", metav1.ListOptions{ResourceVersion: "1", AllowWatchBookmarks: true})
	assert.Equal(t, []string{"ADDED a/p@3"}, spellEvents(late.read()), "bookmarks are for those who are there")
}
