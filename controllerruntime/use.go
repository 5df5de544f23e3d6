package controllerruntime

import (
	"cmp"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// Use prepares a config and the options of a cache for tidemark's informers. Call it before you
// make the cluster or the cache, and pass the same config:
//
//	informers, err := controllerruntime.Use(config, &options)
//	c, err := cache.New(config, options)
//
// Call it once for each config and its cache, after everything else that wraps the config's transport. [NewManager]
// calls it for a manager.
func Use(config *rest.Config, options *cache.Options, more ...Option) (*Informers, error) {
	s := settingsOf(more)
	switch {
	case config == nil:
		return nil, errNoConfig
	case options.NewInformer != nil:
		return nil, contradiction("the cache's options have a NewInformer already")
	case options.HTTPClient != nil:
		return nil, contradiction("the cache's options have an HTTPClient, which would bypass the config's transport; set the config's Transport instead")
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	informers := newInformers(s, cmp.Or(options.Scheme, scheme.Scheme)) // the default is controller-runtime's
	wire := reflector.Wire
	if s.own != nil {
		wire = s.own.Wire
	}
	config.Wrap(wire)
	options.NewInformer = informers.newInformer
	return informers, nil
}

// checkClient returns an error for options of the manager's client that contradict the settings.
func (s *settings) checkClient(o client.Options) error {
	waits := o.Cache != nil && o.Cache.EnableReadYourWritesConsistency != nil && *o.Cache.EnableReadYourWritesConsistency
	switch {
	case o.HTTPClient != nil:
		return contradiction("the client's options have an HTTPClient, which would bypass the config's transport; set the config's Transport instead")
	case s.own != nil && waits:
		return contradiction("OwnWrites shows own writes at once, so that reads need not wait for them by EnableReadYourWritesConsistency")
	}
	return nil
}
