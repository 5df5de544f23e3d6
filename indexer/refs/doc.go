// Package refs finds the objects that an object owns, and those that refer to it, in the caches of their
// kinds:
//
//	pods := informer.New(source, informer.Options[*corev1.Pod]{
//		Indexes: []indexer.Index[*corev1.Pod]{refs.ByOwner[*corev1.Pod](), refs.ByReference[*corev1.Pod]()},
//	})
//	...
//	keys, err := pods.Indexer().FindKeys(refs.ReferringTo(refs.Ref{Kind: "Secret", Namespace: "shop", Name: "tls"}))
//
// Index the kind that has the references: by the UIDs of owners ([ByOwner]), or by the objects that
// fields name ([ByReference]), such as the Secrets, ConfigMaps and claims of pods. [OwnedBy] and
// [ReferringTo] are queries for [indexer.Indexer.Find] and FindKeys. They can have further conditions.
//
// ByReference knows the references in types of k8s.io/api, in any Go type that contains them. For the
// other fields of a custom resource, and for unstructured objects, pass it a function.
//
// With client-go, each program writes these index functions itself.
//
// # Guarantees
//
//   - The object that others refer to need not exist, and its kind need not be watched. A look-up
//     decodes and reads no object.
//   - Owners match by UID: an object does not own what a deleted object of the same name owned.
//     client-go's fakes give objects no UIDs, so [OwnedBy] finds nothing there unless a test sets them.
//   - References are what an object names outside its status, in any version of the API that k8s.io/api
//     has. The next version of this module knows the references of new fields.
//   - All references of an object are indexed. Very many cost time and memory for each.
//   - All functions are safe for any goroutine, and only read their arguments. Several stores may call an
//     index function at the same time.
//   - If a program's function panics, the index by references leaves out the object until its next
//     version, and reports the panic like that of any index function.
//
// References contain the names of Secrets, but never their data. A store with a share of its kind finds
// only objects of that share. Divide kinds that refer to each other by namespace.
package refs
