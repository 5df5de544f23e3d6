package informertest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/shard"
)

// twin is a slow and obvious second model. It keeps every write, and computes each result from all of them.
type twin struct {
	writes    []twinWrite
	compacted uint64
}

type twinWrite struct {
	version uint64
	path    string
	pod     *corev1.Pod // nil if deleted
}

// twinQuery is a query for both models.
type twinQuery struct {
	namespace, app string
	share          shard.Set // the zero value selects everything
}

func (q twinQuery) options() (o metav1.ListOptions) {
	if q.app != "" {
		o.LabelSelector = "app=" + q.app
	}
	if q.share.Field() != 0 {
		o.ShardSelector = q.share.Selector()
	}
	return o
}

func (q twinQuery) selects(p *corev1.Pod) bool {
	return p != nil && (q.namespace == "" || p.Namespace == q.namespace) && (q.app == "" || p.Labels["app"] == q.app) &&
		(q.share.Field() == 0 || q.share.Has(p.Namespace, p.UID))
}

func (w *twin) state(version uint64) map[string]*corev1.Pod {
	state := map[string]*corev1.Pod{}
	for _, write := range w.writes {
		if write.version > version {
			break
		}
		state[write.path] = write.pod
	}
	maps.DeleteFunc(state, func(_ string, p *corev1.Pod) bool { return p == nil })
	return state
}

// list describes the objects of a query at a version, as names does.
func (w *twin) list(q twinQuery, version uint64) []string {
	state, found := w.state(version), []string{}
	for _, path := range slices.Sorted(maps.Keys(state)) {
		if q.selects(state[path]) {
			found = append(found, spell(state[path]))
		}
	}
	return found
}

// versions returns the versions of a query's objects at a version.
func (w *twin) versions(q twinQuery, version uint64) map[string]string {
	found := map[string]string{}
	for path, pod := range w.state(version) {
		if q.selects(pod) {
			found[path] = pod.ResourceVersion
		}
	}
	return found
}

// watch describes a query's events after one version and up to another.
func (w *twin) watch(q twinQuery, after, to uint64) []string {
	events := []string{}
	for _, write := range w.writes {
		if write.version <= after || write.version > to {
			continue
		}
		old := w.state(write.version - 1)[write.path]
		word := map[[2]bool]string{{false, true}: "ADDED", {true, true}: "MODIFIED", {true, false}: "DELETED"}[[2]bool{q.selects(old), q.selects(write.pod)}]
		if word != "" {
			events = append(events, fmt.Sprintf("%s %s@%d", word, write.path, write.version))
		}
	}
	return events
}

// twins are both models, with their open watches and lists.
type twins struct {
	t       *testing.T
	rand    *rand.Rand
	model   *model
	twin    twin
	cursors []*openCursor
	lists   []*openList
}

// openCursor is a watch, the version that its twin has reached, and the state after its events.
type openCursor struct {
	*cursor
	query twinQuery
	at    uint64
	state map[string]string
}

type openList struct {
	query   twinQuery
	version uint64
	token   string
	found   []string
}

func TestModelIsItsTwin(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := &twins{t: t, rand: rand.New(rand.NewPCG(seed, 0)), model: newTestModel(t)}
			w.model.sharded = true
			for range 300 {
				w.step()
			}
			w.end()
		})
	}
}

// end reads all watches to the end.
func (w *twins) end() {
	for _, c := range w.cursors {
		w.read(c)
	}
}

func (w *twins) step() {
	defer w.model.check()
	switch n := w.rand.IntN(100); {
	case n < 50:
		w.write()
	case n < 60:
		w.listExactly()
	case n < 70:
		w.beginList()
	case n < 80:
		w.continueList()
	case n < 87:
		w.beginWatch()
	case n < 98 && len(w.cursors) > 0:
		w.read(w.cursors[w.rand.IntN(len(w.cursors))])
	case n == 99 && w.rand.IntN(3) == 0:
		w.model.compact()
		w.twin.compacted = w.model.version
	}
}

func (w *twins) query() twinQuery {
	q := twinQuery{namespace: w.pick("", "a", "a-b"), app: w.pick("", "x", "y")}
	if w.rand.IntN(3) == 0 {
		share, err := shard.Nth(shard.Field(1+w.rand.IntN(2)), w.rand.IntN(3), 3)
		require.NoError(w.t, err)
		q.share = share
	}
	return q
}

func (w *twins) pick(from ...string) string { return from[w.rand.IntN(len(from))] }

// write makes a random write, which may be invalid. Some pods have a finalizer.
func (w *twins) write() {
	pod := newPod(w.pick("a", "a-b", "b"), w.pick("p", "q", "r", "s"), "app", w.pick("x", "y", "z"), "n", w.pick("1", "2", "3"))
	if w.rand.IntN(3) == 0 {
		pod.Finalizers = []string{"example.com/hold"}
	}
	path := pathOf(pod.Namespace, pod.Name)
	known := w.twin.state(w.model.version)[path]
	dying := known != nil && known.DeletionTimestamp != nil
	same := known != nil && labels.Equals(known.Labels, pod.Labels) && slices.Equal(known.Finalizers, pod.Finalizers)
	version := w.model.version
	var stored apiObject
	var err error
	var changed, gone bool
	switch w.rand.IntN(3) {
	case 0:
		stored, err = w.model.create(pods, pod.Namespace, testWrite, pod)
		require.Equal(w.t, known != nil, apierrors.IsAlreadyExists(err))
		changed = known == nil
	case 1:
		stored, err = w.model.update(pods, pod.Namespace, testWrite, pod)
		require.Equal(w.t, known == nil, apierrors.IsNotFound(err))
		gone = dying && len(pod.Finalizers) == 0
		changed = known != nil && (gone || !same)
	default:
		stored, gone, err = w.model.delete(pods, pod.Namespace, pod.Name, writing{now: metav1.Unix(1, 0)}, metav1.DeleteOptions{})
		require.Equal(w.t, known == nil, apierrors.IsNotFound(err))
		require.Equal(w.t, known != nil && len(known.Finalizers) == 0, gone)
		changed = known != nil && !dying
	}
	if !changed {
		require.Equal(w.t, version, w.model.version, "nothing happened")
		return
	}
	require.NoError(w.t, err)
	require.Equal(w.t, version+1, w.model.version)
	write := twinWrite{version: w.model.version, path: path}
	if !gone {
		write.pod = stored.(*corev1.Pod).DeepCopy()
	}
	w.twin.writes = append(w.twin.writes, write)
}

func (w *twins) listExactly() {
	q, version := w.query(), 1+w.rand.Uint64N(w.model.version)
	o := q.options()
	o.ResourceVersion, o.ResourceVersionMatch = format(version), metav1.ResourceVersionMatchExact
	p, err := w.model.listed(q.namespace, o)
	if version < w.twin.compacted {
		require.True(w.t, apierrors.IsResourceExpired(err), err)
		return
	}
	require.NoError(w.t, err)
	require.Equal(w.t, w.twin.list(q, version), names(p))
}

func (w *twins) beginList() {
	l := &openList{query: w.query(), version: w.model.version}
	w.lists = append(w.lists, l)
	w.page(l)
}

func (w *twins) continueList() {
	if len(w.lists) > 0 {
		w.page(w.lists[w.rand.IntN(len(w.lists))])
	}
}

func (w *twins) page(l *openList) {
	o := l.query.options()
	o.Limit, o.Continue = 1+w.rand.Int64N(3), l.token
	p, err := w.model.listed(l.query.namespace, o)
	if l.token != "" && l.version < w.twin.compacted {
		require.True(w.t, apierrors.IsResourceExpired(err), err)
		w.drop(l)
		return
	}
	require.NoError(w.t, err)
	require.Equal(w.t, l.version, p.version)
	require.LessOrEqual(w.t, int64(len(p.objects)), o.Limit)
	l.found, l.token = append(l.found, names(p)...), p.next
	want := w.twin.list(l.query, l.version)
	if p.remaining != nil {
		require.EqualValues(w.t, len(want)-len(l.found), *p.remaining)
	}
	if l.token == "" {
		require.Equal(w.t, want, append([]string{}, l.found...))
		w.drop(l)
	}
}

func (w *twins) drop(l *openList) {
	w.lists = slices.DeleteFunc(w.lists, func(other *openList) bool { return other == l })
}

// beginWatch begins a watch, after a random version or with the initial state.
func (w *twins) beginWatch() {
	c := &openCursor{query: w.query(), at: 1 + w.rand.Uint64N(w.model.version), state: map[string]string{}}
	o := c.query.options()
	if w.rand.IntN(2) == 0 {
		w.beginStream(c, o)
		return
	}
	o.ResourceVersion = format(c.at)
	c.cursor = w.model.mustWatch(w.t, c.query.namespace, o)
	if c.at < w.twin.compacted {
		require.Equal(w.t, []string{"ERROR 410 Expired"}, spellEvents(c.read()))
		return
	}
	c.state = w.twin.versions(c.query, c.at)
	w.cursors = append(w.cursors, c)
}

func (w *twins) beginStream(c *openCursor, o metav1.ListOptions) {
	c.at = w.model.version
	o.SendInitialEvents, o.ResourceVersionMatch, o.AllowWatchBookmarks = &yes, notOlderThan, true
	c.cursor = w.model.mustWatch(w.t, c.query.namespace, o)
	want := []string{}
	for _, found := range w.twin.list(c.query, c.at) {
		want = append(want, "ADDED "+found)
	}
	events := c.read()
	require.Equal(w.t, append(want, "END @"+format(c.at)), spellEvents(events))
	c.fold(events)
	w.cursors = append(w.cursors, c)
}

// read compares the events of a watch, and the state after them, with the twin's.
func (w *twins) read(c *openCursor) {
	events := c.read()
	require.Equal(w.t, w.twin.watch(c.query, c.at, w.model.version), spellEvents(events))
	c.at = w.model.version
	c.fold(events)
	require.Equal(w.t, w.twin.versions(c.query, c.at), c.state)
}

func (c *openCursor) fold(events []watch.Event) {
	for _, e := range events {
		obj := e.Object.(apiObject)
		switch path := pathOf(obj.GetNamespace(), obj.GetName()); e.Type {
		case watch.Added, watch.Modified:
			c.state[path] = obj.GetResourceVersion()
		case watch.Deleted:
			delete(c.state, path)
		}
	}
}
