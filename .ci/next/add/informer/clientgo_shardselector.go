package informer

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/sharding"
)

// SetShardSelector returns errors.ErrUnsupported: a share is set with [Options].Shard.
func (i *clientgoInformer) SetShardSelector(sharding.Selector) error {
	return fmt.Errorf("informer %s: no shard selector was set: %w", i.core.options.Name, errors.ErrUnsupported)
}
