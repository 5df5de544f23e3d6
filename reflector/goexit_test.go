package reflector

import (
	"context"
	"fmt"
	"runtime"
	"slices"
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

// exitingSink is a sink that records its calls, and ends its goroutine in the calls, or at the
// objects, that the test names: once or always.
type exitingSink struct {
	deadly map[string]bool // calls, and names of objects; true for once
	lines  []string
	batch  []deltafifo.Delta
	next   int
}

// dies ends the goroutine if a call or an object is deadly.
func (c *exitingSink) dies(what string) {
	once, deadly := c.deadly[what]
	if once {
		delete(c.deadly, what)
	}
	if deadly {
		runtime.Goexit()
	}
}

func (c *exitingSink) take(call string) error {
	c.dies(call)
	c.lines = append(c.lines, call)
	return nil
}

func (c *exitingSink) Begin(context.Context, History) error { return c.take("begin") }
func (c *exitingSink) Abort(context.Context) error          { return c.take("abort") }
func (c *exitingSink) Commit(context.Context, string) error { return c.take("commit") }
func (c *exitingSink) Write(_ context.Context, b []deltafifo.Delta) error {
	c.batch, c.next = b, 0
	return c.write()
}

// write continues after the object that has ended the goroutine.
func (c *exitingSink) write() error {
	for c.next < len(c.batch) {
		d := &c.batch[c.next]
		c.next++
		if d.Op == deltafifo.Bookmark {
			c.dies("bookmark")
		}
		c.dies(d.Key.Name)
		c.lines = append(c.lines, strings.TrimSpace(fmt.Sprintf("%v %v", d.Op, d.Key)))
	}
	c.batch = nil
	return nil
}

// resuming is an exitingSink that leaves the deadly deltas out.
type resuming struct{ exitingSink }

func (r *resuming) Resume(context.Context) error {
	d := &r.batch[r.next-1]
	r.lines = append(r.lines, fmt.Sprintf("no %v %v", d.Op, d.Key))
	return r.write()
}

// playInto runs a reflector of a script into a sink, on a goroutine that the sink may
// end, and returns what was observed.
func playInto(t *testing.T, sink Sink, script string) (told []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rig := newRig(t, script)
		rig.options.Observe = func(e Event) { told = append(told, strings.TrimSpace(describe(e))) }
		ctx, cancel := context.WithTimeout(t.Context(), rig.lasts)
		defer cancel()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = New(rig, sink, rig.options).Run(ctx)
		}()
		<-ended
		require.LessOrEqual(t, time.Since(rig.start)-rig.lasts, 100*time.Millisecond)
		require.Empty(t, rig.answers, "the script was not played to its end")
		require.Zero(t, rig.open, "a watch was not stopped")
	})
	return told
}

// D28: a Resumer leaves out the object that ended its goroutine, and takes the rest of the batch.
// Nothing is requested again.
func TestContract_D28_ASinkThatGoesOn(t *testing.T) {
	for name, script := range map[string]string{
		"a list":   "list: page 5 a@1 b@2 c@3\nwatch: open | modified a@6 | added d@7 | modified b@8 | deleted c@9 | bookmark 10\n",
		"pages":    "list: page 5 more=t1 a@1 b@2\nlist: page 5 c@3\nwatch: open | modified a@6 | added d@7 | modified b@8 | deleted c@9 | bookmark 10\n",
		"a stream": "options stream=yes\nstream: open | added a@1 | added b@2 | added c@3 | end 5 | modified a@6 | added d@7 | modified b@8 | deleted c@9 | bookmark 10\n",
	} {
		t.Run(name, func(t *testing.T) {
			sink := &resuming{exitingSink{deadly: map[string]bool{"b": false, "c": true, "d": false, "bookmark": false}}}
			told := playInto(t, sink, script)
			require.Equal(t, []string{
				"begin", "added a", "no added b", "no added c", "commit",
				"modified a", "no added d", "no modified b", "deleted c", "no bookmark ",
			}, sink.lines)
			require.False(t, slices.ContainsFunc(told, func(e string) bool { return strings.Contains(e, "fail") }), "%q", told)
			require.True(t, slices.ContainsFunc(told, func(e string) bool { return strings.HasPrefix(e, "listed") && strings.Contains(e, ": 3 at") }), "%q", told)
		})
	}
}

// However many objects of a list end a goroutine, and wherever they stand, the
// others are written once and in order.
func TestContract_D28_ALargeList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &resuming{exitingSink{deadly: map[string]bool{}}}
		want := []string{"begin"}
		all := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
		for i := range 2*maxBatch + maxBatch/2 {
			o := parse(fmt.Sprintf("a%d@%d", i, i+1))
			all.Items = append(all.Items, *o)
			line := "added " + o.Name
			if i%7 == 0 || i%maxBatch == maxBatch-1 {
				sink.deadly[o.Name] = true
				line = "no " + line
			}
			want = append(want, line)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			src := funcs{list: func(context.Context, metav1.ListOptions) (kruntime.Object, error) { return all, nil }}
			runFor(t, time.Second, src, sink, Options{})
		}()
		<-ended
		require.Equal(t, append(want, "commit"), sink.lines)
	})
}

// D28: for any other sink, a call that ends its goroutine has failed.
func TestContract_D28_ASinkThatDoesNotGoOn(t *testing.T) {
	const state = "begin added a added b commit"
	for deadly, want := range map[string]string{
		"begin":    "abort " + state,
		"a":        "begin abort " + state,
		"b":        "begin added a abort " + state,
		"commit":   "begin added a added b abort " + state,
		"d":        state + " " + state,
		"bookmark": state + " " + state,
	} {
		t.Run(deadly, func(t *testing.T) {
			sink := &exitingSink{deadly: map[string]bool{deadly: true}}
			script := "list: page 5 a@1 b@2\n"
			if strings.HasPrefix(want, state) {
				script += "watch: open | modified d@6 | bookmark 7\n"
			}
			if deadly == "commit" {
				script += "watch: open\n" // it is requested before the commit
			}
			told := playInto(t, sink, script+"list: page 9 a@1 b@2\n")
			require.Equal(t, want, strings.Join(slices.DeleteFunc(sink.lines, func(l string) bool { return l == "modified d" }), " "))
			failure := func(e string) bool {
				return strings.HasPrefix(e, "failure 1") && strings.Contains(e, indexer.ErrGoexit.Error())
			}
			require.True(t, slices.ContainsFunc(told, failure), "%q", told)
		})
	}
}

// An abort that ends its goroutine is not repeated.
func TestContract_D28_AnAbort(t *testing.T) {
	sink := &exitingSink{deadly: map[string]bool{"abort": false}}
	playInto(t, sink, "list: page 5 more=t1 a@1\nlist: internal\nlist: page 5 a@1\n")
	require.Equal(t, "begin added a begin added a commit", strings.Join(sink.lines, " "))
}

// D28: an observer may end its goroutine every time. The reflector continues at the same pace.
func TestContract_D28_AnObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, told := 0, 0
		src := funcs{list: func(context.Context, metav1.ListOptions) (kruntime.Object, error) {
			if calls++; calls < 3 {
				return nil, context.DeadlineExceeded
			}
			return list(strings.Fields("5 a@1")), nil
		}, watch: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			events := make(chan watch.Event)
			return tap{events: events, stop: func() { close(events) }}, nil
		}}
		sink := &exitingSink{}
		r := runFor(t, time.Minute, src, sink, Options{Observe: func(Event) { told++; runtime.Goexit() }})
		require.Equal(t, []string{"begin", "added a", "commit"}, sink.lines)
		require.Equal(t, "5", r.Version())
		require.Equal(t, 3, calls)
		require.Equal(t, 13, told, "three requests for a list, two failures, two back-offs, a page, a commit, a list, the request for a watch, its beginning and its end")
	})
}
