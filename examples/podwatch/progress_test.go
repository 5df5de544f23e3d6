package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

func progressOn(out io.Writer) *progress {
	s := newScreen(out)
	return newProgress(s, log.New(s, "", 0))
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
		assert.Equal(t, row.want, bar(row.came, row.all, ""))
	}
	assert.Less(t, len(bar(10_000_000, 10_000_000, ", 40.0 MB, 9000/s")), 80)
	assert.Equal(t, "podwatch: 7 pods so far, 1.5 MB, 4/s", bar(7, -1, pace(7, 1_500_000, 1750*time.Millisecond)))
	assert.Empty(t, pace(7, 0, 999*time.Millisecond))
}

func TestProgressIsALineASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := newTranscript()
		p := progressOn(out)
		defer p.end()
		seconds := func(n int) {
			for range n {
				pass(1e9)
				synctest.Wait()
			}
		}
		p.came(500, -1, 0)
		p.came(1000, 200, 0)
		assert.Empty(t, out.String(), "not in the first second")
		seconds(2)
		p.came(1100, 100, 0)
		seconds(1)
		p.complete(1201)
		p.complete(1201)
		p.came(7, 7, 0)
		seconds(5)
		assert.Equal(t, "1000 of 1200 pods, 1000/s\n1000 of 1200 pods, 500/s\n1100 of 1200 pods, 367/s\n1201 of 1201 pods\n", out.String())
	})
}

func TestProgressThatBeginsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := newTranscript()
		p := progressOn(out)
		defer p.end()
		pass(5e9)
		synctest.Wait()
		assert.Empty(t, out.String(), "nothing has come")
		p.came(500, -1, 0)
		synctest.Wait()
		assert.Equal(t, "500 pods so far, 100/s\n", out.String(), "at once")
	})
}

func TestProgressOfAShortListIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := newTranscript()
		p := progressOn(out)
		p.came(3, 0, 0)
		p.complete(3)
		pass(10e9)
		assert.Empty(t, out.String())
	})
}

func TestProgressOnATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	out := terminal{newTranscript()}
	p := progressOn(out)
	p.came(350, 350, 0)
	p.came(350, 350, 0)
	p.notes.Print("left out: x")
	p.came(700, -1, 0)
	p.complete(700)
	p.came(7, 7, 0)
	p.notes.Print("reconnected")
	half := bar(350, 700, "")
	assert.Equal(t, erase+half+
		erase+"left out: x\n"+half+
		erase+"podwatch: 700 pods so far"+
		erase+"reconnected\n", out.String())
}

func TestTerminals(t *testing.T) {
	t.Setenv("TERM", "xterm")
	file, err := os.Create(t.TempDir() + "/file")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	assert.True(t, isTerminal(terminal{newTranscript()}))
	assert.False(t, isTerminal(file))
	assert.False(t, isTerminal(newTranscript()))
	t.Setenv("TERM", "dumb")
	assert.False(t, isTerminal(terminal{newTranscript()}))
}

// slow is a server of 700 pods. It sends the first page of 500 at once, and the rest when the
// test says so.
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
	assert.Regexp(t, `^`+regexp.QuoteMeta(bar(500, 700, ""))+`(, [0-9.]+ MB)?(, \d+/s)?$`, bars[1])
	assert.Regexp(t, `^`+regexp.QuoteMeta(bar(700, 700, "")), bars[2])
	assert.NotContains(t, bars[3], "podwatch: [", "the last bar goes away")
	p.interrupt()
	assert.Zero(t, <-p.exit)
	assert.Regexp(t, `\x1b\[K\npodwatch ran for .*\n(.*\n)*  store      700 pods at`, p.stderr)
}

func TestFirstListElsewhere(t *testing.T) {
	path, goOn := slow(t)
	p := start(t, "--kubeconfig", path)
	p.notes(t, stamp+"podwatch: 500 of 700 pods, .*/s$")
	goOn()
	p.notes(t, stamp+"podwatch: 700 of 700 pods$")
	p.prints(t, "Added to Store: web-699$")
	p.interrupt()
	assert.Zero(t, <-p.exit)
	assert.NotContains(t, p.stderr.String(), "\r")
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
	assert.Regexp(t, `^`+regexp.QuoteMeta(erase+bar(500, 700, ""))+`[^\[]*`+regexp.QuoteMeta(erase)+`$`, p.stderr.String())
	assert.Contains(t, p.stdout.String(), "  synced     no\n")
}
