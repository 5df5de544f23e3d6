package factory

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers/admissionregistration"
	"k8s.io/client-go/informers/apiserverinternal"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/autoscaling"
	"k8s.io/client-go/informers/batch"
	"k8s.io/client-go/informers/certificates"
	"k8s.io/client-go/informers/coordination"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/discovery"
	"k8s.io/client-go/informers/events"
	"k8s.io/client-go/informers/extensions"
	"k8s.io/client-go/informers/flowcontrol"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/informers/lifecycle"
	"k8s.io/client-go/informers/networking"
	"k8s.io/client-go/informers/node"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/rbac"
	"k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	"k8s.io/client-go/informers/storage"
	"k8s.io/client-go/informers/storagemigration"
	"k8s.io/client-go/tools/cache"
)

// accessors is what client-go's generated accessors ask for informers. Their
// constructors, which would run client-go's engine, are not run.
type accessors struct{ *Factory }

func (a accessors) InformerFor(obj runtime.Object, _ internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	return a.shared(reflect.TypeOf(obj)) // all their kinds are built in, which a test shows
}

// Admissionregistration returns the accessors of the group.
func (f *Factory) Admissionregistration() admissionregistration.Interface {
	return admissionregistration.New(accessors{f}, f.namespace, f.tweak)
}

// Internal returns the accessors of the group.
func (f *Factory) Internal() apiserverinternal.Interface {
	return apiserverinternal.New(accessors{f}, f.namespace, f.tweak)
}

// Apps returns the accessors of the group.
func (f *Factory) Apps() apps.Interface { return apps.New(accessors{f}, f.namespace, f.tweak) }

// Autoscaling returns the accessors of the group.
func (f *Factory) Autoscaling() autoscaling.Interface {
	return autoscaling.New(accessors{f}, f.namespace, f.tweak)
}

// Batch returns the accessors of the group.
func (f *Factory) Batch() batch.Interface { return batch.New(accessors{f}, f.namespace, f.tweak) }

// Certificates returns the accessors of the group.
func (f *Factory) Certificates() certificates.Interface {
	return certificates.New(accessors{f}, f.namespace, f.tweak)
}

// Coordination returns the accessors of the group.
func (f *Factory) Coordination() coordination.Interface {
	return coordination.New(accessors{f}, f.namespace, f.tweak)
}

// Core returns the accessors of the group.
func (f *Factory) Core() core.Interface { return core.New(accessors{f}, f.namespace, f.tweak) }

// Discovery returns the accessors of the group.
func (f *Factory) Discovery() discovery.Interface {
	return discovery.New(accessors{f}, f.namespace, f.tweak)
}

// Events returns the accessors of the group.
func (f *Factory) Events() events.Interface { return events.New(accessors{f}, f.namespace, f.tweak) }

// Extensions returns the accessors of the group.
func (f *Factory) Extensions() extensions.Interface {
	return extensions.New(accessors{f}, f.namespace, f.tweak)
}

// Flowcontrol returns the accessors of the group.
func (f *Factory) Flowcontrol() flowcontrol.Interface {
	return flowcontrol.New(accessors{f}, f.namespace, f.tweak)
}

// Networking returns the accessors of the group.
func (f *Factory) Networking() networking.Interface {
	return networking.New(accessors{f}, f.namespace, f.tweak)
}

// Node returns the accessors of the group.
func (f *Factory) Node() node.Interface { return node.New(accessors{f}, f.namespace, f.tweak) }

// Policy returns the accessors of the group.
func (f *Factory) Policy() policy.Interface { return policy.New(accessors{f}, f.namespace, f.tweak) }

// Rbac returns the accessors of the group.
func (f *Factory) Rbac() rbac.Interface { return rbac.New(accessors{f}, f.namespace, f.tweak) }

// Resource returns the accessors of the group.
func (f *Factory) Resource() resource.Interface {
	return resource.New(accessors{f}, f.namespace, f.tweak)
}

// Scheduling returns the accessors of the group.
func (f *Factory) Scheduling() scheduling.Interface {
	return scheduling.New(accessors{f}, f.namespace, f.tweak)
}

// Storage returns the accessors of the group.
func (f *Factory) Storage() storage.Interface { return storage.New(accessors{f}, f.namespace, f.tweak) }

// Storagemigration returns the accessors of the group.
func (f *Factory) Storagemigration() storagemigration.Interface {
	return storagemigration.New(accessors{f}, f.namespace, f.tweak)
}

// Lifecycle returns the accessors of the group.
func (f *Factory) Lifecycle() lifecycle.Interface {
	return lifecycle.New(accessors{f}, f.namespace, f.tweak)
}
