// Package controllerruntime holds tests of controller-runtime on tidemark: a
// cache, a manager over it and the manager's client, with the one option
//
//	cache.Options{NewInformer: informer.NewSharedIndexInformer}
//
// and of the same with informer.ForControllerRuntime and reflector.Wire, where
// tidemark reads the answers of the server itself.
//
// Every test runs over client-go's informer as well, so that differences show.
// Those that are meant are named where a test asks what it runs on, with the
// number of the statement in the contract.
//
// The package is a module of its own, since nothing of controller-runtime is
// to burden those who use tidemark without it.
package controllerruntime
