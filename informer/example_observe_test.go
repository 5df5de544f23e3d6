package informer_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// tracer makes spans of an informer's events. It prints them; with OpenTelemetry it would start and
// end the spans of a trace.Tracer.
type tracer struct{ open []string }

func (t *tracer) start(span string) {
	fmt.Printf("%s%s\n", strings.Repeat("  ", len(t.open)), span)
	t.open = append(t.open, span)
}

func (t *tracer) end(how string) {
	t.open = t.open[:len(t.open)-1]
	fmt.Printf("%s%s\n", strings.Repeat("  ", len(t.open)), how)
}

// endAll ends what is open. A failed watch has two events, and a list may go on after a failure.
func (t *tracer) endAll(how string) {
	for len(t.open) > 0 {
		t.end(how)
	}
}

// observe is the informer's Observe, which is called for one event at a time.
func (t *tracer) observe(e informer.Event) {
	switch e := e.(type) {
	case reflector.Asked:
		t.endAll("given up")
		t.start(fmt.Sprintf("%s %s", e.Operation, e.Cause))
	case reflector.Committing:
		t.start(fmt.Sprintf("commit %d objects", e.Objects))
	case reflector.Listed:
		t.end("committed")
		t.endAll("listed")
	case reflector.WatchStarted:
		if len(t.open) == 0 { // a stream goes on as a watch
			t.start("watch")
		}
	case reflector.WatchEnded, reflector.Failed:
		t.endAll("ended")
	}
}

// Observe gets an event at the beginning and at the end of each list, stream, watch and commit. A
// tracer can make spans of them.
func ExampleOptions_traces() {
	server := informertest.New(informertest.Options{})
	defer server.Close()
	ctx, cancel := context.WithCancel(context.Background())
	_ = server.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}})

	source := server.Source(corev1.SchemeGroupVersion.WithResource("pods"), "")
	pods := informer.New(source, informer.Options[*corev1.Pod]{Observe: (&tracer{}).observe})
	wait, err := pods.Start(ctx)
	if err != nil {
		fmt.Println(err)
	}
	if err := pods.WaitFresh(ctx); err != nil {
		fmt.Println(err)
	}
	cancel()
	if err := wait(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// watch-list start
	//   commit 1 objects
	//   committed
	// listed
	// watch
	// ended
}

// An informer logs to klog, which can pass its lines on to log/slog.
func ExampleLogEvents_slog() {
	handler := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	klog.SetSlogLogger(slog.New(handler))
	defer klog.ClearLogger()

	tell := informer.LogEvents(context.Background(), "pods")
	tell(reflector.HistoryWentBack{From: "5000", To: "4000"})
	tell(reflector.HistoryWentBack{From: "5001", To: "4000"}) // left out: within a second
	// Output:
	// level=INFO msg="The server's history went back, listing again" informer=pods from=5000 to=4000
}
