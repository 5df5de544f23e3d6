package informertest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestEmptyModel(t *testing.T) {
	m := newTestModel(t)
	p, err := m.listed("", metav1.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, page{objects: p.objects, version: 1}, p)
	assert.Empty(t, p.objects)
}

func TestCreate(t *testing.T) {
	m := newTestModel(t)
	in := newPod("a", "p")
	in.UID, in.Generation, in.Kind, in.DeletionTimestamp = "mine", 7, "Pod", &metav1.Time{}
	created := m.mustCreate(t, in).(*corev1.Pod)

	assert.Equal(t, "2", created.ResourceVersion)
	assert.NotEqual(t, in.UID, created.UID)
	assert.EqualValues(t, 1, created.Generation)
	assert.Empty(t, created.Kind, "typed clients see no kind")
	assert.Nil(t, created.DeletionTimestamp)
	assert.Equal(t, "mine", string(in.UID), "the caller's object stays as it is")

	config, err := m.create(configMaps, "a", testWrite, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-", Generation: 7}})
	require.NoError(t, err)
	assert.Equal(t, "c-00003", config.GetName())
	assert.Equal(t, "a", config.GetNamespace(), "taken from the path")
	assert.Zero(t, config.GetGeneration())
	assert.NotEqual(t, created.UID, config.GetUID())
	assert.Equal(t, "3", config.GetResourceVersion(), "one counter for all resources")
}

func TestWritesThatAreRefused(t *testing.T) {
	m := newTestModel(t)
	stored := m.mustCreate(t, newPod("a", "p")).(*corev1.Pod)
	with := func(change func(*corev1.Pod)) *corev1.Pod {
		p := stored.DeepCopy()
		change(p)
		return p
	}
	create := func(namespace string, p *corev1.Pod) error {
		_, err := m.create(pods, namespace, testWrite, p)
		return err
	}
	update := func(p *corev1.Pod) error {
		_, err := m.update(pods, "a", testWrite, p)
		return err
	}
	remove := func(namespace, name string, p *metav1.Preconditions) error {
		_, _, err := m.delete(pods, namespace, name, testWrite, metav1.DeleteOptions{Preconditions: p})
		return err
	}
	uid, version := stored.UID+"x", "1"
	_, unserved := m.create(corev1.SchemeGroupVersion.WithResource("bods"), "a", testWrite, newPod("a", "p"))
	_, inNamespace := m.create(nodes, "a", testWrite, &corev1.Node{})
	_, updated := m.update(nodes, "a", testWrite, &corev1.Node{})

	for _, row := range []struct {
		name string
		err  error
		is   func(error) bool
		says string
	}{
		{"exists", create("a", newPod("a", "p")), apierrors.IsAlreadyExists, `pods "p" already exists`},
		{"no name", create("a", newPod("a", "")), apierrors.IsInvalid, "name or generateName is required"},
		{"no namespace", create("", newPod("", "p")), apierrors.IsInvalid, "metadata.namespace: Required"},
		{"not a name", create("a", newPod("a", "p/q")), apierrors.IsInvalid, "may not contain '/'"},
		{"not a prefix", create("a", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "p/"}}), apierrors.IsInvalid, "may not contain '/'"},
		{"not a label", create("a", newPod("a", "q", "x", "y z")), apierrors.IsInvalid, "metadata.labels"},
		{"another namespace", create("b", newPod("a", "q")), apierrors.IsBadRequest, "does not match the namespace"},
		{"born with a version", create("a", with(func(p *corev1.Pod) { p.Name = "q" })), isInternal, "resourceVersion should not be set"},
		{"no such resource", unserved, apierrors.IsNotFound, "could not find the requested resource"},
		{"no such path", inNamespace, apierrors.IsNotFound, "could not find the requested resource"},
		{"no such path to update", updated, apierrors.IsNotFound, "could not find the requested resource"},
		{"update of nothing", update(newPod("a", "q")), apierrors.IsNotFound, `pods "q" not found`},
		{"stale", update(with(func(p *corev1.Pod) { p.ResourceVersion = version })), apierrors.IsConflict, "the object has been modified"},
		{"another object", update(with(func(p *corev1.Pod) { p.UID = uid })), apierrors.IsConflict, "does not match the UID in record"},
		{"update in another namespace", update(newPod("b", "p")), apierrors.IsBadRequest, "does not match the namespace"},
		{"bad update", update(with(func(p *corev1.Pod) { p.Labels = map[string]string{"?": ""} })), apierrors.IsInvalid, "metadata.labels"},
		{"delete of nothing", remove("a", "q", nil), apierrors.IsNotFound, `pods "q" not found`},
		{"a path for a name", remove("", "a/p", nil), apierrors.IsNotFound, `pods "a/p" not found`},
		{"stale delete", remove("a", "p", &metav1.Preconditions{ResourceVersion: &version}), apierrors.IsConflict, ""},
		{"delete of another", remove("a", "p", &metav1.Preconditions{UID: &uid}), apierrors.IsConflict, ""},
	} {
		assert.True(t, row.is(row.err), "%s: %v", row.name, row.err)
		assert.ErrorContains(t, row.err, row.says, row.name)
	}
	assert.EqualValues(t, 2, m.version, "what is refused leaves no trace")
}

func isInternal(err error) bool {
	status, ok := err.(apierrors.APIStatus)
	return ok && status.Status().Code == 500
}

func TestUpdate(t *testing.T) {
	m := newTestModel(t)
	stored := m.mustCreate(t, newPod("a", "p")).(*corev1.Pod)

	change := stored.DeepCopy()
	change.UID, change.ResourceVersion, change.CreationTimestamp, change.Generation = "", "", metav1.Now(), 9
	change.Spec.NodeName = "n1"
	updated := m.mustUpdate(t, change).(*corev1.Pod)
	assert.Equal(t, "3", updated.ResourceVersion, "without a version, the update is unconditional")
	assert.Equal(t, stored.UID, updated.UID)
	assert.Equal(t, stored.CreationTimestamp, updated.CreationTimestamp)
	assert.EqualValues(t, 2, updated.Generation, "the spec changed")

	status := updated.DeepCopy()
	status.Status.Phase = corev1.PodRunning
	updated = m.mustUpdate(t, status).(*corev1.Pod)
	assert.Equal(t, "4", updated.ResourceVersion)
	assert.EqualValues(t, 2, updated.Generation, "the spec did not change")

	assert.Same(t, updated, m.mustUpdate(t, updated.DeepCopy()), "what changes nothing is no change")
	assert.EqualValues(t, 4, m.version)
}

func TestGet(t *testing.T) {
	m := newTestModel(t)
	stored := m.mustCreate(t, newPod("a", "p"))
	for _, version := range []string{"", "0", "1", "2"} {
		found, err := m.get(pods, "a", "p", viewWhole, version)
		require.NoError(t, err)
		assert.Same(t, stored, found)
	}
	_, err := m.get(pods, "a", "p", viewWhole, "3")
	assert.True(t, apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge), err)
	_, err = m.get(pods, "a", "p", viewWhole, "x")
	assert.True(t, isInternal(err), err)
	_, err = m.get(configMaps, "a", "p", viewWhole, "")
	assert.True(t, apierrors.IsNotFound(err), err)
	_, err = m.get(nodes, "a", "p", viewWhole, "")
	assert.True(t, apierrors.IsNotFound(err), err)
}

func TestListAtVersions(t *testing.T) {
	m := newTestModel(t)
	m.mustCreate(t, newPod("a", "p"))                                                                           // 2
	m.mustCreate(t, newPod("a-b", "p"))                                                                         // 3
	m.mustUpdate(t, newPod("a", "p", "x", "y"))                                                                 // 4
	m.mustDelete(t, "a-b", "p")                                                                                 // 5
	m.mustCreate(t, newPod("b", "q"))                                                                           // 6
	_, err := m.create(configMaps, "a", testWrite, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}) // 7
	require.NoError(t, err)

	const exact, notOlder = metav1.ResourceVersionMatchExact, metav1.ResourceVersionMatchNotOlderThan
	now := []string{"a/p@4", "b/q@6"}
	for _, row := range []struct {
		name    string
		options metav1.ListOptions
		want    []string
		version uint64
	}{
		{"most recent", metav1.ListOptions{}, now, 7},
		{"any", metav1.ListOptions{ResourceVersion: "0"}, now, 7},
		{"any, said so", metav1.ListOptions{ResourceVersion: "0", ResourceVersionMatch: notOlder}, now, 7},
		{"at least", metav1.ListOptions{ResourceVersion: "3"}, now, 7},
		{"at least, said so", metav1.ListOptions{ResourceVersion: "3", ResourceVersionMatch: notOlder, Limit: 5}, now, 7},
		{"exactly", metav1.ListOptions{ResourceVersion: "3", ResourceVersionMatch: exact}, []string{"a-b/p@3", "a/p@2"}, 3},
		{"a limit makes it exact", metav1.ListOptions{ResourceVersion: "4", Limit: 5}, []string{"a-b/p@3", "a/p@4"}, 4},
		{"after the deletion", metav1.ListOptions{ResourceVersion: "5", ResourceVersionMatch: exact}, []string{"a/p@4"}, 5},
		{"before all", metav1.ListOptions{ResourceVersion: "1", ResourceVersionMatch: exact}, []string{}, 1},
		{"no pages at 0", metav1.ListOptions{ResourceVersion: "0", Limit: 1}, now, 7},
	} {
		p, err := m.listed("", row.options)
		require.NoError(t, err, row.name)
		assert.Equal(t, row.want, names(p), row.name)
		assert.Equal(t, row.version, p.version, row.name)
		assert.Empty(t, p.next, row.name)
	}

	t.Run("without a watch cache", func(t *testing.T) {
		m.noWatchCache = true
		p, err := m.listed("", metav1.ListOptions{ResourceVersion: "0", Limit: 1})
		require.NoError(t, err)
		assert.Equal(t, now[:1], names(p))
		assert.NotEmpty(t, p.next)
	})
}

func TestListsThatAreRefused(t *testing.T) {
	m := newTestModel(t)
	m.mustCreate(t, newPod("a", "p"))
	m.mustUpdate(t, newPod("a", "p", "x", "y"))
	m.compact() // at version 3

	yes := true
	const exact = metav1.ResourceVersionMatchExact
	for _, row := range []struct {
		name    string
		options metav1.ListOptions
		is      func(error) bool
		says    string
	}{
		{"future", metav1.ListOptions{ResourceVersion: "4"}, isTooLarge, "Too large resource version: 4, current: 3"},
		{"exact future", metav1.ListOptions{ResourceVersion: "4", ResourceVersionMatch: exact}, isTooLarge, ""},
		{"past", metav1.ListOptions{ResourceVersion: "2", ResourceVersionMatch: exact}, apierrors.IsResourceExpired, "provided list is too old"},
		{"past, with a limit", metav1.ListOptions{ResourceVersion: "2", Limit: 1}, apierrors.IsResourceExpired, ""},
		{"not a version", metav1.ListOptions{ResourceVersion: "x"}, apierrors.IsBadRequest, `invalid resource version: resourceVersion: Invalid value: "x"`},
		{"a match of nothing", metav1.ListOptions{ResourceVersionMatch: exact}, apierrors.IsInvalid, "resourceVersionMatch"},
		{"exactly any", metav1.ListOptions{ResourceVersionMatch: exact, ResourceVersion: "0"}, apierrors.IsInvalid, "resourceVersionMatch"},
		{"a stream", metav1.ListOptions{SendInitialEvents: &yes}, apierrors.IsInvalid, "sendInitialEvents"},
		{"label selector", metav1.ListOptions{LabelSelector: "!!"}, apierrors.IsBadRequest, ""},
		{"field selector", metav1.ListOptions{FieldSelector: "a.b"}, apierrors.IsBadRequest, ""},
		{"unknown field", metav1.ListOptions{FieldSelector: "a.b=c"}, apierrors.IsBadRequest, "field label not supported: a.b"},
		{"no base64", metav1.ListOptions{Continue: "?"}, apierrors.IsBadRequest, "invalid continue token"},
		{"no JSON", metav1.ListOptions{Continue: "AAAA"}, apierrors.IsBadRequest, "invalid continue token"},
		{"no start", metav1.ListOptions{Continue: token{Version: 3}.String()}, apierrors.IsBadRequest, "invalid continue token"},
		{"future token", metav1.ListOptions{Continue: token{Version: 4, Start: "a"}.String()}, isTooLarge, ""},
		{"token and version", metav1.ListOptions{Continue: token{Version: 3, Start: "a"}.String(), ResourceVersion: "3"}, apierrors.IsBadRequest, "not allowed when using continue"},
	} {
		_, err := m.listed("", row.options)
		assert.True(t, row.is(err), "%s: %v", row.name, err)
		assert.ErrorContains(t, err, row.says, row.name)
	}
}

func isTooLarge(err error) bool {
	return apierrors.IsTimeout(err) && apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

func TestPagesAreOneState(t *testing.T) {
	m := newTestModel(t)
	for i := range 5 {
		m.mustCreate(t, newPod("a", fmt.Sprint(i)))
	}
	m.mustCreate(t, newPod("b", "0"))

	first, err := m.listed("a", metav1.ListOptions{Limit: 2})
	require.NoError(t, err)
	assert.Equal(t, []string{"a/0@2", "a/1@3"}, names(first))
	assert.EqualValues(t, 3, *first.remaining)

	m.mustDelete(t, "a", "2")
	m.mustCreate(t, newPod("a", "11"))
	m.mustUpdate(t, newPod("a", "3", "x", "y"))

	second, err := m.listed("a", metav1.ListOptions{Limit: 2, Continue: first.next})
	require.NoError(t, err)
	assert.Equal(t, []string{"a/2@4", "a/3@5"}, names(second))
	assert.Equal(t, first.version, second.version)
	assert.EqualValues(t, 1, *second.remaining)

	last, err := m.listed("a", metav1.ListOptions{Continue: second.next})
	require.NoError(t, err)
	assert.Equal(t, []string{"a/4@6"}, names(last))
	assert.Empty(t, last.next)
	assert.Nil(t, last.remaining)

	t.Run("until they expire", func(t *testing.T) {
		m.compact()
		m.check()
		_, err := m.listed("a", metav1.ListOptions{Limit: 2, Continue: first.next})
		require.True(t, apierrors.IsResourceExpired(err), err)
		var status *apierrors.StatusError
		require.ErrorAs(t, err, &status)

		p, err := m.listed("a", metav1.ListOptions{Continue: status.ErrStatus.Continue})
		require.NoError(t, err, "the error tells how to go on with what is there now")
		assert.Equal(t, []string{"a/11@9", "a/3@10", "a/4@6"}, names(p))
		assert.Equal(t, m.version, p.version)
	})
}

func TestSelectors(t *testing.T) {
	m := newTestModel(t)
	m.mustCreate(t, newPod("a", "p", "app", "web"))
	m.mustCreate(t, newPod("a", "q", "app", "db"))
	m.mustCreate(t, newPod("b", "p", "app", "web"))
	placed := newPod("b", "r")
	placed.Spec.NodeName, placed.Status.Phase = "n1", corev1.PodRunning
	m.mustCreate(t, placed)

	for _, row := range []struct {
		namespace, labels, fields string
		want                      []string
	}{
		{"", "app=web", "", []string{"a/p@2", "b/p@4"}},
		{"a", "app=web", "", []string{"a/p@2"}},
		{"", "app!=web", "", []string{"a/q@3", "b/r@5"}},
		{"", "", "metadata.name=p", []string{"a/p@2", "b/p@4"}},
		{"", "", "metadata.namespace=b,metadata.name!=p", []string{"b/r@5"}},
		{"", "", "spec.nodeName=n1", []string{"b/r@5"}},
		{"", "", "status.phase!=Running", []string{"a/p@2", "a/q@3", "b/p@4"}},
		{"", "app=web", "metadata.namespace=b", []string{"b/p@4"}},
		{"c", "", "", []string{}},
	} {
		p, err := m.listed(row.namespace, metav1.ListOptions{LabelSelector: row.labels, FieldSelector: row.fields})
		require.NoError(t, err)
		assert.Equal(t, row.want, names(p), "%+v", row)
	}

	t.Run("a page may be empty", func(t *testing.T) {
		p, err := m.listed("", metav1.ListOptions{LabelSelector: "app=db", Limit: 1})
		require.NoError(t, err)
		assert.Equal(t, []string{"a/q@3"}, names(p))
		assert.Nil(t, p.remaining, "not known with a selector")
		p, err = m.listed("", metav1.ListOptions{LabelSelector: "app=db", Limit: 1, Continue: p.next})
		require.NoError(t, err)
		assert.Empty(t, names(p))
		assert.Empty(t, p.next)
	})
}

func TestPodFieldsOfOtherObjects(t *testing.T) {
	assert.Nil(t, podFields(&corev1.Node{}))
}

func TestSpecOf(t *testing.T) {
	assert.Nil(t, kind{}.specOf(&corev1.Secret{}))
	assert.True(t, kind{}.sameSpec(&corev1.Pod{}, &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{}}}))
}
