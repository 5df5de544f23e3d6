package reflector

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
)

// exitingSink is a sink that records its calls, and ends its goroutine in a call, or at an object or
// bookmark.
type exitingSink struct {
	deadly string
	lines  []string
}

func (c *exitingSink) take(call string) error {
	if call == c.deadly {
		runtime.Goexit()
	}
	c.lines = append(c.lines, call)
	return nil
}

func (c *exitingSink) Begin(context.Context, History) error { return c.take("begin") }
func (c *exitingSink) Abort(context.Context) error          { return c.take("abort") }
func (c *exitingSink) Commit(context.Context, string) error { return c.take("commit") }
func (c *exitingSink) Write(_ context.Context, b []deltafifo.Delta) error {
	for i := range b {
		_ = c.take(strings.TrimSpace(fmt.Sprintf("%v %v", b[i].Op, b[i].Key)))
	}
	return nil
}

// playInto runs a reflector of a script, and returns what was observed and how Run has ended. The error is
// nil also if Run's goroutine was ended.
func playInto(t *testing.T, sink Sink, script string, observe func(Event)) (r *Reflector, returned bool, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rig := newRig(t, script)
		rig.options.Observe = observe
		ctx, cancel := context.WithTimeout(t.Context(), rig.lasts)
		defer cancel()
		r = New(rig.source(), sink, rig.options)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			err = r.Run(ctx)
			returned = true
		}()
		<-ended
		require.NoError(t, ctx.Err(), "it does not wait for the end of the context")
		require.Empty(t, rig.answers, "the script was not played to its end")
		require.Zero(t, rig.open, "a watch was not stopped")
	})
	return r, returned, err
}

// D28: a sink that ends its goroutine ends Run's. No other call follows.
func TestContract_D28_ASink(t *testing.T) {
	const state = "begin|added a|added b|commit|"
	for deadly, want := range map[string]string{
		"begin":      "",
		"added a":    "begin|",
		"added b":    "begin|added a|",
		"commit":     "begin|added a|added b|",
		"modified d": state,
		"bookmark":   state + "modified d|",
	} {
		t.Run(deadly, func(t *testing.T) {
			sink := &exitingSink{deadly: deadly}
			script := "list: page 5 a@1 b@2\n"
			if deadly == "commit" || strings.HasPrefix(want, state) {
				script += "watch: open | modified d@6 | bookmark 7\n" // requested before the commit
			}
			_, returned, _ := playInto(t, sink, script, nil)
			require.False(t, returned)
			require.Equal(t, want, strings.Join(append(sink.lines, ""), "|"))
		})
	}
}

// D28: so does an observer.
func TestContract_D28_AnObserver(t *testing.T) {
	for name, is := range map[string]func(Event) bool{
		"of the first request": func(e Event) bool { _, ok := e.(Asked); return ok },
		"of a full state":      func(e Event) bool { _, ok := e.(Listed); return ok },
		"of a watch":           func(e Event) bool { _, ok := e.(WatchStarted); return ok },
	} {
		t.Run(name, func(t *testing.T) {
			sink := &exitingSink{}
			script := "list: page 5 a@1\nwatch: open\n"
			if name == "of the first request" {
				script = ""
			}
			_, returned, _ := playInto(t, sink, script, func(e Event) {
				if is(e) {
					runtime.Goexit()
				}
			})
			require.False(t, returned)
		})
	}
}

// exitingSource returns a source whose first list is answered, and whose calls end their goroutines as said.
func exitingSource(where string) Source {
	lists := 0
	exit := func(here string) {
		if here == where {
			runtime.Goexit()
		}
	}
	source := funcs{list: func(context.Context, metav1.ListOptions) (kruntime.Object, error) {
		if lists++; lists == 1 {
			exit("the first list")
			return list(strings.Fields("5 a@1")), nil
		}
		exit("a later list")
		return list(strings.Fields("9 a@1")), nil
	}, watch: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
		exit("a watch")
		events := make(chan watch.Event, 1)
		events <- watch.Event{Type: watch.Error, Object: &metav1.Status{Code: 410, Reason: metav1.StatusReasonExpired}}
		return tap{events: events, stop: func() { exit("the end of a watch"); close(events) }}, nil
	}}.source()
	source.Tweak = func(*metav1.ListOptions) { exit("the tweak") }
	return source
}

// D28: a function of the source that ends its goroutine ends the reflector, with an error that names the
// request. It is no failure to be repeated.
func TestContract_D28_ASource(t *testing.T) {
	for where, row := range map[string]struct{ says, lines string }{
		"the tweak":          {"list pods: ", ""},
		"the first list":     {"list pods: ", ""},
		"a watch":            {"watch pods: ", "begin|added a|commit|"},
		"the end of a watch": {"watch pods: ", "begin|added a|commit|"},
		"a later list":       {"list pods: ", "begin|added a|commit|"},
	} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sink := &exitingSink{}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				r := New(exitingSource(where), sink, Options{Name: "pods", Observe: func(e Event) {
					if f, ok := e.(Failed); ok {
						require.NotErrorIs(t, f.Err, indexer.ErrExited)
					}
				}})
				err := r.Run(ctx)
				require.ErrorIs(t, err, indexer.ErrExited)
				require.ErrorContains(t, err, row.says)
				require.NoError(t, ctx.Err())
				require.Equal(t, row.lines, strings.Join(append(sink.lines, ""), "|"))
			})
		})
	}
}

// D28: a full state that is under way is aborted, as at the end of the context.
func TestContract_D28_APageOfAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &exitingSink{}
		pages := 0
		r := New(funcs{list: func(context.Context, metav1.ListOptions) (kruntime.Object, error) {
			if pages++; pages == 2 {
				runtime.Goexit()
			}
			return list(strings.Fields("5 more=token a@1")), nil
		}}.source(), sink, Options{})
		require.ErrorIs(t, r.Run(t.Context()), indexer.ErrExited)
		require.Equal(t, []string{"begin", "added a", "abort"}, sink.lines)
	})
}
