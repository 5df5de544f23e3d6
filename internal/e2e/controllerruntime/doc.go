// Package controllerruntime tests controller-runtime on tidemark: a cache, a manager with this cache,
// and the manager's client, with the single option
//
//	cache.Options{NewInformer: tidecache.NewSharedIndexInformer}
//
// It also tests them with informer.ForControllerRuntime and reflector.Wire, with which tidemark decodes
// the server's answers, and with the constructor that controllerruntime.Use passes to a cache, on packed
// objects.
//
// Every test also runs on client-go's informer, which shows the differences. A test that expects a
// difference names the statement in the contract.
//
// The package is a separate module, so that the library does not depend on controller-runtime.
package controllerruntime
