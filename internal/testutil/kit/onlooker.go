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

// Onlooker acts like a program that reads an informer, its factory or its store within the informer's
// callbacks. A test says what to read, and calls Look in each callback. A read that waits for the
// callback itself never returns. The zero value reads nothing.
type Onlooker struct {
	mu     sync.Mutex
	looks  []look
	looked map[string]int
}

// look is a function that reads something, and the callbacks that must not call it.
type look struct {
	at     func()
	except []string
}

// At adds a function for Look to call, except in some callbacks.
func (o *Onlooker) At(at func(), except ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.looks = append(o.looks, look{at, except})
}

// Look calls all functions, within a callback.
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

// Looked returns how often each callback has called Look.
func (o *Onlooker) Looked() map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.looked)
}

// Logger returns a logger that calls Look in each of its methods, for the callback "logger".
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

// Transport returns a transport that calls Look before and after each request, for the callback
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

// soon limits the real time of a test that waits for Look.
const soon = 5 * time.Minute

// EndsSoon ends the process, with the stacks of all goroutines, if the test does not end within five
// minutes of real time. A read that waits for its own callback also stops the clock of a bubble. Call
// EndsSoon outside of the bubble.
func EndsSoon(t testing.TB) {
	late := time.AfterFunc(soon, func() {
		debug.SetTraceback("all")
		panic(t.Name() + " waits for a callback that calls Look")
	})
	t.Cleanup(func() { late.Stop() })
}
