package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Copies share no memory with the original.
func TestDeepCopy(t *testing.T) {
	list := &CronTabList{Items: []CronTab{{Spec: CronTabSpec{Schedule: "daily"}}}}
	list.Items[0].Labels = map[string]string{"a": "1"}
	twin, ok := list.DeepCopyObject().(*CronTabList)
	require.True(t, ok)
	require.Equal(t, list, twin)
	twin.Items[0].Labels["a"], twin.Items[0].Spec.Schedule = "2", "never"
	require.Equal(t, map[string]string{"a": "1"}, list.Items[0].Labels)
	require.Equal(t, "daily", list.Items[0].Spec.Schedule)
}
