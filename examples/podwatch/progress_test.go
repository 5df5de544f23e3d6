package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

func progressOn(out io.Writer) *progress {
	return &progress{out: out, terminal: demo.IsTerminal(out), began: time.Now()}
}

func TestBar(t *testing.T) {
	for _, row := range []struct {
		came, all int
		want      string
	}{
		{0, 700, "podwatch: [..............................]   0%  0 of 700 pods"},
		{500, 700, "podwatch: [#####################.........]  71%  500 of 700 pods"},
		{699, 700, "podwatch: [#############################.]  99%  699 of 700 pods"},
		{700, 700, "podwatch: [##############################] 100%  700 of 700 pods"},
		{0, 0, "podwatch: [##############################] 100%  0 of 0 pods"},
		{1, -1, "podwatch: 1 pod so far"},
	} {
		assert.Equal(t, row.want, bar(row.came, row.all))
	}
	assert.Less(t, len(bar(10_000_000, 10_000_000)), 80)
	assert.Equal(t, "podwatch: 7 pods so far, 1.5 MB, 4/s", bar(7, -1)+pace(7, 1_500_000, 1750*time.Millisecond))
	assert.Empty(t, pace(7, 0, 999*time.Millisecond))
}

func TestProgressOnATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	out := terminal{newTranscript()}
	p := progressOn(out)
	notes := log.New(p, "", 0)
	p.came(350, 350, 0)
	p.came(350, 350, 0)
	notes.Print("left out: x")
	p.came(700, -1, 0)
	p.end()
	p.came(7, 7, 0)
	notes.Print("reconnected")
	half := bar(350, 700)
	assert.Equal(t, erase+half+
		erase+"left out: x\n"+half+
		erase+"podwatch: 700 pods so far"+
		erase+"reconnected\n", out.String())
}

// slow is a server of 700 pods. It sends the first page of 500 at once, and the rest when the test allows it.
func slow(t *testing.T) (kubeconfig string, goOn func()) {
	t.Helper()
	s := startServerWith(t, informertest.Options{NoWatchList: true, NoWatchCache: true})
	for i := range 700 {
		require.NoError(t, s.Create(t.Context(), newPod("shop", fmt.Sprintf("web-%d", i), "web")))
	}
	released := make(chan struct{})
	url := front(t, s, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Has("continue") {
			<-released
		}
		return false
	})
	return writeKubeconfig(t, url), func() { close(released) }
}

func TestFirstListOnATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	path, goOn := slow(t)
	p := startOn(t, &terminal{newTranscript()}, "--kubeconfig", path, "--output", "json")
	p.notes(t, ` 71%  500 of 700 pods`)
	assert.Empty(t, p.stdout.String())
	goOn()
	p.prints(t, `"web-699"`)
	bars := strings.Split(p.stderr.String(), erase)
	require.GreaterOrEqual(t, len(bars), 4)
	assert.Empty(t, bars[0])
	assert.Regexp(t, `^`+regexp.QuoteMeta(bar(500, 700))+`(, [0-9.]+ MB)?(, \d+/s)?$`, bars[1])
	assert.Regexp(t, `^`+regexp.QuoteMeta(bar(700, 700)), bars[2])
	assert.NotContains(t, bars[3], "podwatch: [", "the last bar goes away")
	p.interrupt()
	assert.Zero(t, <-p.exit)
	assert.Regexp(t, `\x1b\[K\npodwatch ran for .*\n(.*\n)*  store      700 pods at`, p.stderr)
}

// No bar stays on the terminal if the program ends during the list.
func TestInterruptedFirstList(t *testing.T) {
	t.Setenv("TERM", "xterm")
	path, goOn := slow(t)
	defer goOn()
	p := startOn(t, &terminal{newTranscript()}, "--kubeconfig", path)
	p.notes(t, `500 of 700 pods`)
	p.interrupt()
	assert.Zero(t, <-p.exit)
	assert.Regexp(t, `^`+regexp.QuoteMeta(erase+bar(500, 700))+`[^\[]*`+regexp.QuoteMeta(erase)+`$`, p.stderr.String())
	assert.Contains(t, p.stdout.String(), "  synced     no\n")
}
