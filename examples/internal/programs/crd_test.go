package programs

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/testutil/program"
)

var crd = built("crd")

func TestCRD_Program(t *testing.T) {
	crd.Test(t)
}

// In the demo, the resource is missing at first, and appears later.
func TestCRD_Demo(t *testing.T) {
	t.Parallel()
	p := crd.Start(t) // a demo, because there is no kubeconfig
	p.Notes(t, program.Stamp+`crd: found no kubeconfig, so this is a demo cluster: an API server in this process, http://127\.0\.0\.1:\d+$`)
	p.Notes(t, program.Stamp+`crd: waiting: informer crontabs.stable.example.com: the informer is not synced: .*the server could not find the requested resource.*$`)
	p.Prints(t, program.Stamp+`crontabs.stable.example.com exists, objects: [12]$`)
	for _, who := range []string{"typed", "dynamic"} {
		p.Prints(t, program.Stamp+who+` \+ shop/backup runs registry.example/backup:v1 daily$`)
		p.Prints(t, program.Stamp+who+` ~ shop/report runs registry.example/report:v1 monthly$`)
		p.Prints(t, program.Stamp+who+` - shop/report runs registry.example/report:v1 monthly$`)
	}
	p.Interrupt()
	p.Exits(t, 0)
}

// Ten seconds are enough for the demo: informers ask for the resource after 1 s and again after 2 s, each
// lengthened by up to half.
func TestCRD_ShortDemo(t *testing.T) {
	t.Parallel()
	p := crd.Start(t, "--demo", "--for", "10s")
	p.Prints(t, program.Stamp+`crontabs.stable.example.com exists, objects: [12]$`)
	p.Exits(t, 0)
}

func TestCRD_Cluster(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := informertest.New(informertest.Options{})
	require.NoError(t, s.Register(cronTabs))
	require.NoError(t, s.Create(ctx, newCronTab("report", "weekly")))
	p := crd.Start(t, "--kubeconfig", program.Kubeconfig(t, s))
	p.Prints(t, "exists, objects: 1$")
	p.Prints(t, `^.* typed \+ shop/report runs registry.example/report:v1 weekly$`)
	p.Prints(t, `^.* dynamic \+ shop/report runs registry.example/report:v1 weekly$`)
	p.Interrupt()
	p.Exits(t, 0)
	assert.Empty(t, p.Stderr.String())
	assert.Equal(t, map[string]int{"watchlist": 2}, s.Counts())
}

// A resource that does not appear in time is an error.
func TestCRD_ResourceThatNeverComes(t *testing.T) {
	t.Parallel()
	s := informertest.New(informertest.Options{})
	p := crd.Start(t, "--kubeconfig", program.Kubeconfig(t, s), "--for", "1500ms")
	p.Exits(t, 1)
	assert.Regexp(t, `\ncrd: informer crontabs.stable.example.com: .*the server could not find the requested resource.*\n$`, p.Stderr.String())
	assert.Empty(t, p.Stdout.String())
}
