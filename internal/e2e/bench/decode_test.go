package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestDecodedObjectsAreAsLargeAsTheTitlesSay(t *testing.T) {
	for name, pod := range map[string]func(int) *corev1.Pod{"sibling": siblingPod, "lone": lonePod} {
		d, err := inProtobuf(pod)(3)
		require.NoError(t, err)
		require.InEpsilon(t, 6000, len(d.bodies[2]), 0.2, name)
	}
	custom, err := releases(3)
	require.NoError(t, err)
	require.InEpsilon(t, 4000, len(custom[2]), 0.15)
}

func TestLonePodsHaveNoTextInCommon(t *testing.T) {
	sibling, lone := texts(t, siblingPod(workloads)), texts(t, lonePod(workloads))
	require.Greater(t, len(sibling), 90)
	require.Greater(t, len(lone), 90)
	for text := range texts(t, lonePod(0)) {
		require.NotContains(t, lone, text)
	}
	shared := 0
	for text := range texts(t, siblingPod(0)) {
		if sibling[text] {
			shared++
		}
	}
	require.Greater(t, shared, len(sibling)/2, "of two pods of one workload")
}

func TestDecodersThatDisagreeAreNoticed(t *testing.T) {
	d, err := asUnstructured(2)
	require.NoError(t, err)
	require.NoError(t, d.agree())
	theirs := d.theirs
	d.theirs = func([]byte) (any, error) { return theirs(d.bodies[0]) }
	require.ErrorIs(t, d.agree(), errUnlike)
}

func TestObjectsLeftToAnotherDecoderAreNoticed(t *testing.T) {
	d, err := asType(2)
	require.NoError(t, err)
	ours := d.ours
	d.ours = func() (decode, func() uint64) {
		of, _ := ours()
		return of, func() uint64 { return 1 }
	}
	_, err = d.measureOurs(&meter{})
	require.ErrorIs(t, err, errLeft)
}

// texts is the values in an object that are text.
func texts(t *testing.T, object any) map[string]bool {
	t.Helper()
	data, err := json.Marshal(object)
	require.NoError(t, err)
	var tree any
	require.NoError(t, json.Unmarshal(data, &tree))
	found := map[string]bool{}
	var look func(any)
	look = func(v any) {
		switch v := v.(type) {
		case string:
			found[v] = true
		case []any:
			for _, e := range v {
				look(e)
			}
		case map[string]any:
			for _, e := range v {
				look(e)
			}
		}
	}
	look(tree)
	return found
}
