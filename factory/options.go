package factory

import (
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// Option configures a [Factory]. The options are client-go's.
type Option func(*Factory)

// SharedInformerOption is client-go's name for [Option].
type SharedInformerOption = Option

// WithNamespace limits all informers of namespaced kinds to one namespace.
func WithNamespace(namespace string) Option {
	return func(f *Factory) { f.namespace = namespace }
}

// WithTweakListOptions passes the options of all requests through tweak. Given
// twice, the last one holds.
func WithTweakListOptions(tweak internalinterfaces.TweakListOptionsFunc) Option {
	return func(f *Factory) { f.tweak = tweak }
}

// WithTransform sets the transform of all informers. An informer leaves out,
// and reports, what it makes of another type.
func WithTransform(transform cache.TransformFunc) Option {
	return func(f *Factory) { f.transform = transform }
}

// WithRetention sets how long what an informer holds is kept when its last lease was
// released, in case somebody acquires it again: 5 minutes unless it is set, not at all
// for 0, for ever for a negative time.
func WithRetention(d time.Duration) Option {
	return func(f *Factory) { f.keep = d }
}

// WithDecoding says how all informers decode their objects: which values they
// share, what is left out of them (managedFields, say), and what becomes of those
// that cannot be decoded. Of a type that is configured by [Configure] its own holds.
func WithDecoding(d reflector.Decoding) Option {
	return func(f *Factory) { f.decoding = d }
}

// WithCustomResyncConfig sets the resync periods of some types; the others have
// the factory's.
func WithCustomResyncConfig(periods map[metav1.Object]time.Duration) Option {
	return func(f *Factory) {
		for obj, period := range periods {
			f.resyncs[reflect.TypeOf(obj)] = period
		}
	}
}

// WithInformerName names the factory; Shutdown releases the name.
func WithInformerName(name *cache.InformerName) Option {
	return func(f *Factory) { f.name = name }
}
