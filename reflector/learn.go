package reflector

import (
	"fmt"
	"time"

	"k8s.io/client-go/features"
)

// learned is what a source says of itself, before it is asked for anything.
type learned struct {
	// streaming is what the outermost source says: one that wraps another may know
	// of something between the two that cannot stream.
	streaming Streaming
	wired     wired // nil where its answers cannot be read here
	// resource is the source as one that knows its resource, nil where nobody can be asked
	// about it.
	resource resourceSource
}

// learn asks the source what it can do. The source is a user's, and may be made by
// this first call: it may panic, or take long, which is told once.
func (l *loop) learn() (input, error) {
	if l.learning == nil {
		l.learning = make(chan outcome[learned], 1)
		go l.askSource(l.learning)
	}
	var late <-chan time.Time
	if l.machine.failures.count == 0 {
		timer := time.NewTimer(sourcePatience)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case o := <-l.learning:
		l.use(o)
		if o.err != nil {
			return input{kind: inFailed}, o.err
		}
		return input{kind: inStart}, nil
	case <-late:
		return input{kind: inSilent}, fmt.Errorf("%w: the source does not say whether it streams", ErrSilent)
	case <-l.ctx.Done():
		return input{kind: inStop}, nil
	}
}

func (l *loop) askSource(answer chan<- outcome[learned]) {
	o := outcome[learned]{}
	defer func() { answer <- o }() // also where the source has ended the goroutine
	o.from(func() (learned, error) {
		return learned{streamingOfSource(l.source), wiredOf(l.source, l.o.Type), resourceSourceOf(l.source)}, nil
	})
}

// use makes use of what was learned. A source that could not say what it can do is
// asked for lists, which the client decodes.
func (l *loop) use(o outcome[learned]) {
	l.streaming, l.presence.source = o.value.streaming, o.value.resource
	if o.err != nil {
		l.streaming = StreamingUnsupported
	}
	l.machine.streaming = l.streaming
	if !features.FeatureGates().Enabled(features.WatchListClient) {
		l.machine.streaming = StreamingUnsupported
	}
	if source := l.presence.source; source != nil && source.isMoved() && l.o.Version != "" {
		l.machine.history.state = rolledBack // what the sink holds is of another version
	}
	l.machine.resumes = l.o.Resume.from(l.streaming, l.o.Version)
	l.readHere(o.value.wired)
}
