package informer

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// ForManager is [ForControllerRuntime] for pods, with a source and the engine's options.
func ForManager(s reflector.Source, o engine.Options) Shared {
	return sharedOf(nil, &corev1.Pod{}, clientgoSettings{source: s, options: o, metrics: NewMetrics(cache.InformerNameAndResource{}, nil), typed: true})
}

var NewMetrics = newMetrics

// ForgetProvider undoes [SetInformerMetricsProvider].
func ForgetProvider() { provided.Store(nil) }

// ResyncOf returns the resync period of a registration.
func ResyncOf(r cache.ResourceEventHandlerRegistration) time.Duration {
	return r.(*clientgoRegistration).registration.Options.Resync
}
