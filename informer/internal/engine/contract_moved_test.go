package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// D27: if two sources report the same object, the higher version wins, in any order of the reports.
// If versions are equal or do not compare, the last put wins. Each word is a report of source a or
// b about the pod: put (+), delete (-), a replacement with the pod (=) or without it (.), or the
// begin of a replacement with the pod ([), of such a replacement in a new history ({), and its end
// (]).
func TestContract_D27_TheHigherVersionWins(t *testing.T) {
	for recorded, want := range map[string]string{
		// The pod moves from a to b, and a's reports are late.
		"a+5 b+10 a+9":           "b@10",
		"a+5 b+10 a+9 a-10":      "b@10",
		"a+5 b+10 a-10":          "b@10",
		"a+5 a+9 a-10 b+10":      "b@10",
		"a+5 a-10 b+10":          "b@10",
		"a+5 b+10 a=9":           "b@10",
		"a+5 b+10 a=9 a-10":      "b@10",
		"a+5 b+10 a.12":          "b@10",
		"b+10 a=5":               "b@10",
		"a+5 b=10 a+9 a-10":      "b@10",
		"a+5 a[9 b+10 a]":        "b@10",
		"a+5 a[5 b+10 a]":        "b@10",
		"a+5 a[5 b+10 a] a-10":   "b@10",
		"a+5 a[9 b[10 a] b]":     "b@10",
		"a+5 a[9 b[10 b] a]":     "b@10",
		"a+5 b[10 a[9 a] a+9 b]": "b@10",
		// The pod moves back to a.
		"a+5 b+10 a+20 b-20": "a@20",
		"a+5 b+10 a=20 b-20": "a@20",
		"b+10 b[10 a+20 b]":  "a@20",
		"b+10 b[10 a=20 b]":  "a@20",
		"b+7 a[6 a+9 a]":     "a@9",
		// The pod is deleted.
		"a+5 b+10 a+9 b-12":  "",
		"b+10 a-12":          "",
		"b+10 a-12 b-11":     "",
		"b[10 a+11 a-12 b]":  "b@10", // until b reports the delete
		"b+10 b-12 a+9":      "a@9",  // until a reports the delete
		"b+10 b-12 a+9 a-10": "",
		"b+10 b-12 a=9 a.10": "",
		// If versions are equal or do not compare, the last put wins, but a delete removes only the
		// object of its own source.
		"a+5 b+5":     "b@5",
		"a+5 b=5":     "b@5",
		"a+5 b-5":     "a@5",
		"a+x b+5":     "b@5",
		"a+5 b+x":     "b@x",
		"a+5 b=x":     "b@x",
		"a+5 b-x":     "a@5",
		"a+x b-5":     "a@x",
		"a+ b+":       "b@",
		"a+ b-":       "a@",
		"a+5 b+7 b-x": "",
		"a+5 b+5 b-5": "",
		// The versions of a new history are not compared with older versions.
		"b.1 a+100 b{5 b]":     "b@5",
		"b.1 a+100 b{5 b] b+6": "b@6",
		// A first list may begin a history, too: its version arrives after its items.
		"a+10 b{5 b]":      "a@10",
		"a+10 b{5 b] b-10": "a@10",
	} {
		for name, transform := range map[string]func(*corev1.Pod) (*corev1.Pod, error){"": nil, ", disguised": hideIdentity, ", half disguised": disguiseEven, ", stripped": rig.Stripped} {
			t.Run(recorded+name, func(t *testing.T) {
				j := newJoined(t, informer.Options[*corev1.Pod]{Transform: transform}, 2)
				j.beginReplace(0, reflector.SameHistory)
				j.commitReplace(0, "1")
				for word := range strings.FieldsSeq(recorded) {
					j.says(int(word[0]-'a'), word[1], word[2:])
				}
				require.Equal(t, want, j.holds())
			})
		}
	}
}

// D3, D27: an object that has failed, and that another source has now, is not quarantined any more once
// its former source reports another version, be it good or bad.
func TestContract_D3_AnObjectThatHasMovedAwayIsNotQuarantined(t *testing.T) {
	for _, late := range []string{"", "error"} {
		j := newJoined(t, informer.Options[*corev1.Pod]{Transform: rig.FailByLabel}, 2)
		for source := range 2 {
			j.beginReplace(source, reflector.SameHistory)
			j.commitReplace(source, "1")
		}
		j.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "5", rig.Sick)))
		j.tell(1, deltaOf(deltafifo.Added, kit.Pod("p", "7")))
		require.Equal(t, 1, j.Status().Quarantined)
		j.tell(0, deltaOf(deltafifo.Modified, kit.Pod("p", "6", kit.Label("poison", late))))
		require.Zero(t, j.Status().Quarantined)
		require.Empty(t, j.Inspector().Quarantined())
		require.Equal(t, "b@7", j.holds())
	}
}

// T19: an object that a user puts under a source's key belongs to that source, and under a new key to the first
// one. The next list of its source lasts longer, and so does the next report of another one.
func TestContract_T19_ByHandIntoAJoinedStore(t *testing.T) {
	for name, put := range map[string]func(cache.Store, ...*corev1.Pod) error{
		"Replace": func(s cache.Store, pods ...*corev1.Pod) error { return s.Replace([]any{pods[0], pods[1], pods[2]}, "") },
		"Update": func(s cache.Store, pods ...*corev1.Pod) error {
			return errors.Join(s.Update(pods[0]), s.Update(pods[1]), s.Add(pods[2]))
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJoined(t, informer.Options[*corev1.Pod]{}, 2)
			lists := func(source int, pods ...*corev1.Pod) []string {
				j.beginReplace(source, reflector.SameHistory)
				for _, p := range pods {
					j.tell(source, deltaOf(deltafifo.Added, p))
				}
				j.commitReplace(source, "10")
				return slices.Sorted(slices.Values(rig.Spell(j.Writer().Indexer().Keys())))
			}
			lists(0, kit.Pod("a", "1"))
			require.Equal(t, []string{"default/a", "default/b"}, lists(1, kit.Pod("b", "2")))
			require.NoError(t, put(j.store(), kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("mine", "99")))
			require.Equal(t, []string{"default/a", "default/mine"}, lists(1))
			j.tell(1, deltaOf(deltafifo.Added, kit.Pod("mine", "7")))
			require.Equal(t, []string{"default/a", "default/mine"}, lists(0, kit.Pod("a", "1")), "a source has it now")
			require.NoError(t, j.store().Add(kit.Pod("new", "99")))
			require.Equal(t, []string{"default/mine"}, lists(0))
			require.Empty(t, lists(1))
		})
	}
}
