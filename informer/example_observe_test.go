package informer_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// tracer makes spans of an informer's events. It prints them; with OpenTelemetry it would start and
// end the spans of a trace.Tracer.
type tracer struct{ span string }

// start ends the current span, if any, and starts another.
func (t *tracer) start(span string) {
	t.end("given up")
	t.span = span
	fmt.Println(span)
}

// end ends the current span, if any. A failed watch has two events.
func (t *tracer) end(how string) {
	if t.span != "" {
		fmt.Println("  " + how)
	}
	t.span = ""
}

// observe is the informer's Observe, which is called for one event at a time.
func (t *tracer) observe(e informer.Event) {
	switch e := e.(type) {
	case reflector.Asked:
		t.start(fmt.Sprintf("%s %s", e.Operation, e.Cause))
	case reflector.Listed:
		t.end(fmt.Sprintf("listed %d objects", e.Objects))
	case reflector.WatchStarted:
		if t.span == "" { // a stream goes on as a watch
			t.start("watch")
		}
	case reflector.WatchEnded, reflector.Failed:
		t.end("ended")
	}
}

// Observe gets an event at the start and at the end of each list, stream, and watch. A tracer can
// make spans of them.
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
	//   listed 1 objects
	// watch
	//   ended
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
