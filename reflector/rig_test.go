package reflector

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/shard"
)

var rewrite = flag.Bool("rewrite", false, "write what happened into the transcripts of testdata")

// play runs the transcript that is named like the test, less its prefix: a
// comment, then what the source answers to one request after the other, then
// all that happened. The time is that of a synctest bubble, and chance always
// 0.5, so that a back-off is half as much again. Where the answers end, lists
// hang and watches are silent. Objects are written name@version.
func play(t *testing.T) {
	t.Helper()
	file := filepath.Join("testdata", strings.TrimPrefix(t.Name(), "TestContract_")+".txt")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	script, want, _ := strings.Cut(string(text), "----\n")
	var got string
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, script)
		r.run(t)
		got = strings.Join(r.lines, "\n") + "\n"
	})
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(script+"----\n"+got), 0o600))
		return
	}
	require.Equal(t, want, got)
}

type partialObject = metav1.PartialObjectMetadata

// rig is a source that answers by a script, a sink that takes everything, and
// the log of both.
type rig struct {
	options   Options
	streaming Streaming
	lasts     time.Duration
	fails     string // the call of the sink that fails, once

	mu      sync.Mutex
	answers []string
	open    int // watches that were opened and not stopped
	start   time.Time
	lines   []string
}

func newRig(t *testing.T, script string) *rig {
	t.Helper()
	r := &rig{streaming: StreamingUnsupported, lasts: time.Minute, start: time.Now()}
	r.options = Options{Name: "pods", Observe: func(e Event) { r.log("%s", describe(e)) }, Rand: func() float64 { return 0.5 }}
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		settings, isOptions := strings.CutPrefix(line, "options ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case isOptions:
			for _, setting := range strings.Fields(settings) {
				r.set(t, setting)
			}
		default:
			r.answers = append(r.answers, line)
		}
	}
	return r
}

func (r *rig) set(t *testing.T, setting string) {
	t.Helper()
	name, value, _ := strings.Cut(setting, "=")
	var err error
	switch name {
	case "stream":
		r.streaming = map[string]Streaming{"yes": StreamingSupported, "no": StreamingUnsupported, "unknown": StreamingUnknown}[value]
	case "pagesize":
		_, err = fmt.Sscan(value, &r.options.PageSize)
	case "mintimeout":
		r.options.MinWatchTimeout, err = time.ParseDuration(value)
	case "version":
		r.options.Version = value
	case "streampatience":
		r.options.StreamPatience, err = time.ParseDuration(value)
	case "listpatience":
		r.options.ListPatience, err = time.ParseDuration(value)
	case "for":
		r.lasts, err = time.ParseDuration(value)
	case "fails":
		r.fails = value
	case "share": // by namespace: of 0/2, "own" is in it, and "far" is foreign
		var set shard.Set
		index, total, failed := shard.ParseNth(value)
		require.NoError(t, failed)
		set, err = shard.Nth(shard.ByNamespace, index, total)
		r.options.Share = set
	default:
		t.Fatalf("no such option: %q", setting)
	}
	require.NoError(t, err)
}

// run runs a reflector until the time is over. It must stop at once.
func (r *rig) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), r.lasts)
	defer cancel()
	reflector := New(r.source(), r, ofType[*partialObject](r.options))
	require.NoError(t, reflector.Run(ctx))
	require.LessOrEqual(t, time.Since(r.start)-r.lasts, 100*time.Millisecond, "Run did not end with its context")
	r.log("end at version %q", reflector.Version())
	if r.options.Share.Field() != 0 {
		dropped, server := reflector.Foreign()
		r.log("%d foreign, the server %s", dropped, cmp.Or(server, "has not shown whether it filters"))
	}
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	require.Empty(t, r.answers, "the script was not played to its end")
	require.Zero(t, r.open, "a watch was not stopped")
}

func (r *rig) log(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	line := fmt.Sprintf("%-9v ", time.Since(r.start)) + fmt.Sprintf(format, args...)
	// How changes fall into batches is a matter of luck, so those of one time are joined.
	if n := len(r.lines) - 1; n >= 0 && strings.Contains(line, " write ") {
		if head, more, _ := strings.Cut(line, " write "); strings.HasPrefix(r.lines[n], head+" write ") {
			r.lines[n] += ", " + more
			return
		}
	}
	r.lines = append(r.lines, line)
}

// answer takes the next answer, which must fit the request.
func (r *rig) answer(request string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.answers) == 0 {
		return ""
	}
	kind, answer, _ := strings.Cut(r.answers[0], ":")
	r.answers = r.answers[1:]
	if kind != request {
		panic(fmt.Sprintf("a %s where the script has a %s", request, kind))
	}
	return strings.TrimSpace(answer)
}

func (r *rig) source() Source { return Source{List: r.List, Watch: r.Watch, Streams: r.streaming} }

func (r *rig) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	r.log("-> list rv=%q limit=%d continue=%q%s", o.ResourceVersion, o.Limit, o.Continue, selecting(o))
	answer := r.answer("list")
	words := strings.Fields(answer)
	switch {
	case answer == "" || words[0] == "hangs":
		<-ctx.Done()
		return nil, ctx.Err()
	case words[0] == "page":
		return list(words[1:]), nil
	case words[0] == "table":
		u := &unstructured.UnstructuredList{}
		u.SetAPIVersion("meta.k8s.io/v1")
		u.SetKind("Table")
		return u, nil
	case words[0] == "nolist":
		return &partialObject{}, nil
	default:
		return nil, failure(ctx, words)
	}
}

// selecting says whether a request has the selector of a share.
func selecting(o metav1.ListOptions) string {
	if o.ShardSelector == "" {
		return ""
	}
	return " of the share"
}

func (r *rig) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	request := "watch"
	if o.SendInitialEvents != nil && *o.SendInitialEvents {
		request = "stream"
	}
	r.log("-> %s rv=%q match=%q timeout=%ds bookmarks=%v%s", request, o.ResourceVersion, o.ResourceVersionMatch, *o.TimeoutSeconds, o.AllowWatchBookmarks, selecting(o))
	answer := r.answer(request)
	if late, after, ok := strings.Cut(answer, " later: "); ok {
		pause, err := time.ParseDuration(late)
		if err != nil {
			panic(err)
		}
		time.Sleep(pause)
		answer = after
	}
	rest, isOpen := strings.CutPrefix(answer, "open")
	words := strings.Fields(answer)
	switch {
	case isOpen || answer == "":
		r.mu.Lock()
		defer r.mu.Unlock()
		r.open++
		return r.play(strings.Split(rest, "|")[1:]), nil
	case words[0] == "hangs":
		<-ctx.Done()
		return nil, ctx.Err()
	default:
		return nil, failure(ctx, words)
	}
}

func (r *rig) fail(call string) error {
	if r.fails != call {
		return nil
	}
	r.fails = ""
	return fmt.Errorf("no %s today", call)
}

func (r *rig) Begin(_ context.Context, h History) error {
	r.log("begin%s", map[History]string{NewHistory: " a new history"}[h])
	return r.fail("begin")
}

func (r *rig) Write(_ context.Context, batch []deltafifo.Delta) error {
	for _, d := range batch {
		r.log(" write %s", strings.TrimSpace(fmt.Sprintf("%v %v@%s", d.Op, d.Key, d.Version)))
	}
	return r.fail("write")
}

func (r *rig) Commit(_ context.Context, version string) error {
	r.log("commit %q", version)
	return r.fail("commit")
}

func (r *rig) Abort(context.Context) error {
	r.log("abort")
	return r.fail("abort")
}
