package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

var badInput []struct{ args, want string }

// The demo shows all of it: the resource is not there, and then it is.
func TestDemo(t *testing.T) {
	p := start(t) // no kubeconfig, so it is one
	p.notes(t, stamp+`crd: this is a demo, on an API server in this process, http://127\.0\.0\.1:\d+$`)
	p.notes(t, stamp+`crd: waiting: informer crontabs.stable.example.com: the informer is not synced: .*the server could not find the requested resource.*$`)
	p.prints(t, stamp+`crontabs.stable.example.com is there, objects: [12]$`)
	for _, who := range []string{"typed", "dynamic"} {
		p.prints(t, stamp+who+` \+ shop/backup runs registry.example/backup:v1 daily$`)
		p.prints(t, stamp+who+` ~ shop/report runs registry.example/report:v1 monthly$`)
		p.prints(t, stamp+who+` - shop/report runs registry.example/report:v1 monthly$`)
	}
	p.interrupt()
	p.exits(t, 0)
}

func TestCluster(t *testing.T) {
	ctx := t.Context()
	s := informertest.New(informertest.Options{})
	require.NoError(t, s.Register(kind))
	require.NoError(t, s.Create(ctx, newCronTab("report", "weekly")))
	p := start(t, "--kubeconfig", kubeconfig(t, s))
	p.prints(t, "is there, objects: 1$")
	p.prints(t, `^.* typed \+ shop/report runs registry.example/report:v1 weekly$`)
	p.prints(t, `^.* dynamic \+ shop/report runs registry.example/report:v1 weekly$`)
	p.interrupt()
	p.exits(t, 0)
	assert.Empty(t, p.stderr.String())
	assert.Equal(t, informertest.Requests{WatchList: 2}, s.Requests())
}

// A resource that does not come by the end is an error.
func TestResourceThatNeverComes(t *testing.T) {
	s := informertest.New(informertest.Options{})
	p := start(t, "--kubeconfig", kubeconfig(t, s), "--for", "1500ms")
	p.exits(t, 1)
	assert.Regexp(t, `\ncrd: informer crontabs.stable.example.com: .*the server could not find the requested resource.*\n$`, p.stderr.String())
	assert.Empty(t, p.stdout.String())
}

// What the store hands out is copied without sharing.
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
