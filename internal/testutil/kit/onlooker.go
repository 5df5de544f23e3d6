package kit

import (
	"io"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// Onlooker is a program that looks at an informer, its factory or its store from within the informer's
// callbacks. A test says what it looks at, and calls Look in each callback. A look that waits for the
// callback itself never returns. The zero value looks at nothing.
type Onlooker struct {
	mu     sync.Mutex
	looks  []look
	looked map[string]int
}

// look is something to look at, and the callbacks that must not.
type look struct {
	at     func()
	except []string
}

// At adds something to look at, except from some callbacks.
func (o *Onlooker) At(at func(), except ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.looks = append(o.looks, look{at, except})
}

// Look looks at everything, from within a callback.
func (o *Onlooker) Look(from string) {
	for _, at := range o.from(from) {
		at()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.looked == nil {
		o.looked = make(map[string]int)
	}
	o.looked[from]++
}

func (o *Onlooker) from(callback string) (looks []func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range o.looks {
		if !slices.Contains(l.except, callback) {
			looks = append(looks, l.at)
		}
	}
	return looks
}

// Looked returns how often each callback has looked.
func (o *Onlooker) Looked() map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.looked)
}

// Logger returns a logger that looks in each of its methods, as the callback "logger".
func (o *Onlooker) Logger() klog.Logger {
	silent := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(io.Discard)))
	return klog.New(sink{silent.GetSink(), o})
}

type sink struct {
	klog.LogSink
	o *Onlooker
}

func (s sink) Enabled(level int) bool {
	s.o.Look("logger")
	return s.LogSink.Enabled(level)
}

func (s sink) Info(level int, message string, values ...any) {
	s.o.Look("logger")
	s.LogSink.Info(level, message, values...)
}

func (s sink) Error(err error, message string, values ...any) {
	s.o.Look("logger")
	s.LogSink.Error(err, message, values...)
}

func (s sink) WithValues(values ...any) klog.LogSink {
	s.o.Look("logger")
	return sink{s.LogSink.WithValues(values...), s.o}
}

func (s sink) WithName(name string) klog.LogSink {
	s.o.Look("logger")
	return sink{s.LogSink.WithName(name), s.o}
}

// Transport returns a transport that looks before and after each request, as the callback
// "transport".
func (o *Onlooker) Transport(next http.RoundTripper) http.RoundTripper { return transport{o, next} }

type transport struct {
	o    *Onlooker
	next http.RoundTripper
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.o.Look("transport")
	defer t.o.Look("transport")
	return t.next.RoundTrip(r)
}

// soon bounds the real time of a test that waits for looks.
const soon = 5 * time.Minute

// EndsSoon ends the process, with the stacks of all goroutines, unless a test ends within five minutes of
// real time: a look that waits for its own callback stops the clock of a bubble, too. It is called outside of
// the bubble.
func EndsSoon(t testing.TB) {
	late := time.AfterFunc(soon, func() {
		debug.SetTraceback("all")
		panic(t.Name() + " waits for a callback that looks")
	})
	t.Cleanup(func() { late.Stop() })
}
