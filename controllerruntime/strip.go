package controllerruntime

import (
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/tidemark-k8s/tidemark/controllerruntime/internal/place"
)

// stripped returns the fields that a transform removes if it is controller-runtime's TransformStripManagedFields, and
// nil for any other.
func stripped(transform func(any) (any, error)) []string {
	if place.Of(transform) == strip {
		return []string{"metadata.managedFields"}
	}
	return nil
}

// strip is where TransformStripManagedFields is written.
var strip = place.Of(cache.TransformStripManagedFields())
