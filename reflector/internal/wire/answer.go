package wire

import (
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Answer is the body of an answer, or what a client has decoded from it.
type Answer struct {
	Body  io.ReadCloser
	List  runtime.Object
	Watch watch.Interface
}

// Close releases an answer that is not needed.
func (a Answer) Close() {
	if a.Body != nil {
		_ = a.Body.Close() // the body is not read to its end
	}
	if a.Watch != nil {
		a.Watch.Stop()
	}
}
