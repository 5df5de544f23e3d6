package reflector

import (
	"fmt"
	"time"

	"k8s.io/client-go/features"

	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// learned is a source's answer on what it can do, before the first request.
type learned struct {
	streaming Streaming
	raw       rawSource
}

// learn asks the source what it can do. This first call may construct a user's source: it may
// panic, or take long, which is reported once.
func (l *loop) learn() (input, error) {
	if l.learning == nil {
		l.learning = make(chan wire.Outcome[learned], 1)
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
		if o.Err != nil {
			return input{kind: inFailed}, o.Err
		}
		return input{kind: inStart}, nil
	case <-late:
		return input{kind: inSilent}, fmt.Errorf("%w: the source does not say whether it streams", ErrSilent)
	case <-l.ctx.Done():
		return input{kind: inStop}, nil
	}
}

func (l *loop) askSource(answer chan<- wire.Outcome[learned]) {
	o := wire.Outcome[learned]{}
	defer func() { answer <- o }() // also if the source has ended the goroutine
	o.From(func() (learned, error) {
		c := capabilitiesOf(l.source)
		return learned{c.streaming(), c.raw}, nil
	})
}

// use applies the source's answer. A source that failed to answer is listed through the client.
func (l *loop) use(o wire.Outcome[learned]) {
	l.sourceStreams = o.Value.streaming
	if o.Err != nil {
		l.sourceStreams = StreamingUnsupported
	}
	l.machine.streamSupport = l.sourceStreams
	if !features.FeatureGates().Enabled(features.WatchListClient) {
		l.machine.streamSupport = StreamingUnsupported
	}
	l.readHere(o.Value.raw)
}
