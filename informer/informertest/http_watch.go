package informertest

import (
	"encoding/json"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
)

// serveWatch writes events until the watch ends.
func (x *exchange) serveWatch() error {
	stream, err := x.stream(x.r.Context(), x.asked("watch"), x.options)
	if err != nil {
		return err
	}
	defer stream.close()

	// The client waits for the header before it waits for events.
	x.w.Header().Set("Content-Type", x.form.watchMedia())
	x.w.WriteHeader(http.StatusOK)
	connection, send := http.NewResponseController(x.w), x.form.sender(x.w)
	for connection.Flush() == nil {
		events := stream.next()
		if events == nil {
			return nil
		}
		for _, e := range events {
			if x.send(e, send) != nil {
				return nil // the client is gone
			}
		}
	}
	return nil
}

func (x *exchange) send(e watch.Event, send func(*metav1.WatchEvent) error) error {
	gvk := x.kind.GVK
	if e.Type == watch.Error {
		gvk = statusGVK
	}
	text, err := x.form.encode(x.form.shape(e.Object, gvk))
	if err != nil {
		return err
	}
	return send(&metav1.WatchEvent{Type: string(e.Type), Object: runtime.RawExtension{Raw: text}})
}

// watchMedia returns the Content-Type of a watch.
func (f form) watchMedia() string {
	if f.media == runtime.ContentTypeProtobuf {
		return f.media + ";stream=watch"
	}
	return f.media
}

// sender returns a function that writes events. With JSON, each event is a document on a line of its own.
// With protobuf, the length of each event precedes it.
func (f form) sender(w io.Writer) func(*metav1.WatchEvent) error {
	if f.media == runtime.ContentTypeProtobuf {
		frames, codec := protobuf.LengthDelimitedFramer.NewFrameWriter(w), protobuf.NewRawSerializer(nil, nil)
		return func(e *metav1.WatchEvent) error { return codec.Encode(e, frames) }
	}
	lines := json.NewEncoder(w)
	return func(e *metav1.WatchEvent) error { return lines.Encode(e) }
}
