// Package controllerruntime makes a controller-runtime manager with tidemark's informers. [NewManager] replaces
// ctrl.NewManager:
//
//	mgr, err := controllerruntime.NewManager(config, ctrl.Options{Scheme: scheme})
//
// The manager, its cache and its client are controller-runtime's. Their informers are tidemark's: they decode the
// server's answers themselves, store equal values once, and select by indexes. Options turn on the rest:
//
//	mgr, err := controllerruntime.NewManager(config, options,
//		controllerruntime.Storage(informer.Storage{Decoded: informer.NewBudget(64 << 20)}),
//		controllerruntime.Indexes(&appsv1.Deployment{}, refs.ByReference[*appsv1.Deployment]()))
//
// The controllers read the cache by types and relations, without a copy:
//
//	deployments, err := controllerruntime.View[*appsv1.Deployment](controllerruntime.InformersOf(mgr))
//	readers, err := deployments.Find(refs.ReferringTo(refs.Ref{Kind: "Secret", Namespace: "shop", Name: "tls"}))
//
// For a cluster or a cache without a manager, [Use] changes the config and the cache's options before they are made.
//
// The package is a separate module, so that only its users depend on controller-runtime. It follows the minor
// versions of controller-runtime: this one is for v0.25.
//
// # Guarantees
//
//   - NewManager does not change its config or options. The manager's GetConfig returns a copy of
//     the config, whose clients pass their requests through tidemark's transport. [Use] changes
//     both.
//   - Options that contradict each other are an error ([ErrOptions]), and so are invalid options. So is a NewInformer or
//     an HTTP client in the manager's options, because it would bypass this package.
//   - Options of a kind are keyed by an example object, because controller-runtime passes nothing
//     else to a new informer, not even namespaces or selectors. A typed example means its Go type.
//     Unstructured and metadata-only objects (metav1.PartialObjectMetadata) also name a group,
//     version and kind. If you read a kind in two forms, set its options for both.
//   - An informer has only objects of its example's Go type, so [informer.As] returns its typed
//     view.
//   - controller-runtime's TransformStripManagedFields costs nothing, wherever the cache's options set it: the informer
//     leaves managedFields out as it decodes, and calls no transform. The objects are the same. Any other transform
//     runs as usual, even one that calls TransformStripManagedFields.
//   - [Informers] lists the informers that run, each from its Run to its end. Their metrics are in controller-runtime's
//     registry, by one collector for the process. They have the names and labels of package factory/metrics, and the
//     label "cluster" with [Cluster]. The first scrape of an informer makes it measure.
//   - The page of package factory/debug is at /debug/informers of the metrics server if that authenticates requests, or
//     with [Page]. Without a metrics server there is no page, and one log line says so.
//   - Handlers that controllers add are named by their kind and a number.
//   - A [View] reads what is cached, and never makes an informer.
//
// All functions and methods may be called from any goroutine.
package controllerruntime
