package controllerruntime

import (
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
)

// NewManager is ctrl.NewManager with tidemark's informers. It returns [ErrOptions] for options that contradict each
// other, and any error of ctrl.NewManager.
func NewManager(config *rest.Config, options ctrl.Options, more ...Option) (ctrl.Manager, error) {
	if config != nil {
		config = rest.CopyConfig(config)
	}
	if options.Cache.Scheme == nil {
		options.Cache.Scheme = options.Scheme // as the manager does
	}
	informers, err := Use(config, &options.Cache, more...)
	if err != nil {
		return nil, err
	}
	if err := informers.settings.checkClient(options.Client); err != nil {
		return nil, err
	}
	if err := informers.addPage(&options); err != nil {
		return nil, err
	}
	m, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, err
	}
	return &manager{m, informers}, nil
}

// manager is a manager that knows its informers.
type manager struct {
	ctrl.Manager
	informers *Informers
}

// InformersOf returns the informers of a manager made by [NewManager]. For any other manager it returns nil, which lists
// nothing, is never ready, and has no [View].
func InformersOf(m ctrl.Manager) *Informers {
	if ours, ok := m.(*manager); ok {
		return ours.informers
	}
	return nil
}
