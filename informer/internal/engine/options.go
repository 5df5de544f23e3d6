package engine

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// Options are an informer's options, without the type of its objects. Package informer documents them.
type Options struct {
	Name                         string
	Resource                     schema.GroupResource
	Indexes                      []indexer.Index[any]
	LabelIndexes                 []string
	Transform                    func(any) (any, error)
	TransformDrops               func(transform func(any) (any, error)) []string
	Resync                       time.Duration
	MinWatchTimeout              time.Duration
	StreamPatience, ListPatience time.Duration
	PageSize                     int64
	reflector.Decoding
	Storage     Storage
	Shard       shard.Assignment
	HandlerName string
	Rand        func() float64
	Observe     func(Event)
}

// Validate returns an error for options that an informer refuses.
func (o *Options) Validate() error {
	switch budget := o.Storage.Decoded; {
	case o.Resync < 0:
		return OutOfRange("Resync", o.Resync)
	case o.MinWatchTimeout < 0:
		return OutOfRange("MinWatchTimeout", o.MinWatchTimeout)
	case o.StreamPatience < 0:
		return OutOfRange("StreamPatience", o.StreamPatience)
	case o.ListPatience < 0:
		return OutOfRange("ListPatience", o.ListPatience)
	case o.PageSize < 0:
		return OutOfRange("PageSize", o.PageSize)
	case budget != nil && budget.Limit() < 0:
		return OutOfRange("the budget of Storage.Decoded", budget.Limit())
	}
	if _, err := fields.Parse(o.Drop...); err != nil {
		return fmt.Errorf("%w: Drop: %w", reflector.ErrBadOptions, err)
	}
	return nil
}

// WithNamespaceIndex adds the namespace index, unless the indexes have one of its name.
func WithNamespaceIndex(indexes []indexer.Index[any]) []indexer.Index[any] {
	for _, ix := range indexes {
		if ix.Name == indexer.NamespaceIndex {
			return indexes
		}
	}
	byNamespace := indexer.Index[any]{Name: indexer.NamespaceIndex, ByNamespace: true}
	return append([]indexer.Index[any]{byNamespace}, indexes...)
}
