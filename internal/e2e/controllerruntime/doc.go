// Package controllerruntime holds tests of controller-runtime on tidemark: a
// cache, a manager over it and the manager's client, with the one option
//
//	cache.Options{NewInformer: tidecache.NewSharedIndexInformer}
//
// and of the same with informer.ForControllerRuntime and reflector.Wire, with
// which tidemark decodes the server's answers itself, and with the constructor
// that controllerruntime.Use gives a cache, on packed objects.
//
// Every test runs over client-go's informer as well, so that differences show.
// A test that expects a difference says so with the number of the statement in
// the contract.
//
// The package is a module of its own, so that the library does not depend on
// controller-runtime.
package controllerruntime
