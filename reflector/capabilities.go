package reflector

import "github.com/tidemark-k8s/tidemark/internal/around"

// capabilities is what the reflector knows of a source beside its List and Watch. A source around
// another one changes what differs, and passes on the rest.
type capabilities struct {
	namespace string // "" for all, or if it is not known
	// streams is nil if nobody knows whether the source can stream. It may call a user's method.
	streams func() Streaming
	raw     rawSource // without a function if the client has to decode
}

// capable is a source of this package.
type capable interface{ capabilities() capabilities }

func (c capabilities) streaming() Streaming {
	if c.streams == nil {
		return StreamingUnknown
	}
	return c.streams()
}

func streamsAs(s Streaming) func() Streaming { return func() Streaming { return s } }

// described is a source with its capabilities.
type described struct {
	Source
	now func() capabilities
}

// withCapabilities returns a source whose capabilities never change.
func withCapabilities(source Source, c capabilities) Source {
	return &described{source, func() capabilities { return c }}
}

var (
	_ Streamer = (*described)(nil)
	_ Scoped   = (*described)(nil)
)

func (d *described) capabilities() capabilities { return d.now() }

func (d *described) Streaming() Streaming { return d.now().streaming() }

// Namespace returns the namespace the source is limited to.
func (d *described) Namespace() string { return d.now().namespace }

// wrapper is a user's source around another source.
type wrapper interface{ Unwrap() Source }

// capabilitiesOf returns what is known of a source. A user's source around another one is limited
// to the same namespace, but its requests and answers are its own.
func capabilitiesOf(source Source) (c capabilities) {
	switch s := source.(type) {
	case capable:
		return s.capabilities()
	case interface{ Around() around.Source[Source] }:
		of := s.Around()
		c = capabilitiesOf(of.Inner)
		if of.ListOnly {
			c.streams = streamsAs(StreamingUnsupported)
		}
		return c
	case wrapper:
		c.namespace = capabilitiesOf(s.Unwrap()).namespace
	}
	if s, ok := source.(Scoped); ok {
		c.namespace = s.Namespace()
	}
	if s, ok := source.(Streamer); ok {
		c.streams = s.Streaming
	}
	return c
}
