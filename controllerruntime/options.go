package controllerruntime

import (
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// Option configures the informers of [NewManager] and [Use].
type Option func(*settings)

// settings are what the options say.
type settings struct {
	own   *reflector.OwnWrites // nil for none
	all   informer.Options[any]
	kinds []kindOption

	cluster string // in metrics
	page    *bool  // nil for the default
}

// kindOption changes the options of the informers of one kind.
type kindOption struct {
	kind   runtime.Object
	change func(*informer.Options[any])
}

func settingsOf(options []Option) (s settings) {
	for _, o := range options {
		o(&s)
	}
	return s
}

// OwnWrites shows the manager's own writes in its cache when the client's calls return, see [reflector.OwnWrites].
// The manager's client then must not have EnableReadYourWritesConsistency. Own writes are experimental: their names, and
// which answers are shown, may change.
func OwnWrites(own *reflector.OwnWrites) Option {
	return func(s *settings) { s.own = own }
}

// Storage says how the informers store their objects, see [informer.Storage]. All informers share
// the budget. Informers of Secrets keep them decoded. Packed storage is experimental: its options,
// and what is packed, may change.
func Storage(storage informer.Storage) Option {
	return func(s *settings) { s.all.Storage = storage }
}

// PageSize makes every list of the informers request pages of n objects. With zero, the informers
// decide.
func PageSize(n int64) Option {
	return func(s *settings) { s.all.PageSize = n }
}

// Shard makes the informers of some kinds read a share of the objects, see
// [informer.Options].Shard. Informers of all other kinds read all objects, because a client that
// looks up Secrets or Nodes by name may need any of them. A later Shard for the same kind replaces
// the Assignment. Nil means all objects. Shards are experimental: they may change with the server's
// selector, which is alpha.
func Shard(a shard.Assignment, first client.Object, more ...client.Object) Option {
	return func(s *settings) {
		for _, kind := range append([]client.Object{first}, more...) {
			s.of(kind, func(o *informer.Options[any]) { o.Shard = a })
		}
	}
}

// Drop leaves fields of a kind out of the cache, such as "status" or "data.token", see [reflector.Decoding].Drop. An
// object that lacks a field other than metadata.managedFields must be written back by patches only.
func Drop(kind client.Object, fields ...string) Option {
	return func(s *settings) {
		s.of(kind, func(o *informer.Options[any]) { o.Drop = append(o.Drop, fields...) })
	}
}

// LabelIndexes names labels of a kind that have an index from the beginning, see [informer.Options].LabelIndexes. Other
// labels get an index after several queries of a [View].
func LabelIndexes(kind client.Object, keys ...string) Option {
	return func(s *settings) {
		s.of(kind, func(o *informer.Options[any]) { o.LabelIndexes = append(o.LabelIndexes, keys...) })
	}
}

// Indexes adds indexes to the informers of a kind, such as those of package indexer/refs by owner and by reference.
func Indexes[T client.Object](kind T, indexes ...indexer.Index[T]) Option {
	return func(s *settings) {
		s.of(kind, func(o *informer.Options[any]) {
			for _, ix := range indexes {
				o.Indexes = append(o.Indexes, ix.Untyped())
			}
		})
	}
}

// Cluster names the manager's cluster in metrics, by the label "cluster". It is for a process with managers of several
// clusters.
func Cluster(name string) Option {
	return func(s *settings) { s.cluster = name }
}

// Page sets whether the manager's metrics server serves /debug/informers, see package
// factory/debug. By default it does if the options set Metrics.FilterProvider, which authenticates
// requests. The page then allows every host name.
func Page(on bool) Option {
	return func(s *settings) { s.page = &on }
}

// of adds an option of a kind.
func (s *settings) of(kind client.Object, change func(*informer.Options[any])) {
	s.kinds = append(s.kinds, kindOption{kind, change})
}

// optionsOf returns the options of the informer of an example.
func (s *settings) optionsOf(example runtime.Object) informer.Options[any] {
	o := s.all
	if object.HoldsSecrets(example) {
		o.Storage = informer.Storage{}
	}
	for _, k := range s.kinds {
		if sameKind(k.kind, example) {
			k.change(&o)
		}
	}
	return o
}

// validate returns an error for options that an informer would refuse.
func (s *settings) validate() error {
	if err := s.all.Validate(); err != nil {
		return err
	}
	for _, k := range s.kinds {
		o := s.optionsOf(k.kind)
		if err := o.Validate(); err != nil {
			return fmt.Errorf("the options of %T: %w", k.kind, err)
		}
		if _, err := indexer.New(indexer.Options{Indexes: o.Indexes, LabelIndexes: o.LabelIndexes}); err != nil {
			return fmt.Errorf("the options of %T: %w", k.kind, err)
		}
	}
	return nil
}

// sameKind reports whether two objects have the same Go type and, if that type stands for many
// kinds, the same kind.
func sameKind(a, b runtime.Object) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) &&
		(!ofManyKinds(a) || a.GetObjectKind().GroupVersionKind() == b.GetObjectKind().GroupVersionKind())
}

// ofManyKinds reports whether the Go type of an object stands for many kinds.
func ofManyKinds(obj runtime.Object) bool {
	switch obj.(type) {
	case runtime.Unstructured, *metav1.PartialObjectMetadata:
		return true
	}
	return false
}
