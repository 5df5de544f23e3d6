// Package refs answers who owns and who refers to an object, from the caches of those who do.
//
// A relation is an index on the side that refers: [ByOwner] by the UIDs of owners, [ByReference] by the
// objects that fields name, such as the Secrets, ConfigMaps and claims of pods. [OwnedBy] and
// [ReferringTo] are queries for [indexer.Indexer.Find] and FindKeys, alone or with further conditions.
//
//	pods := informer.New(source, informer.Options[*corev1.Pod]{
//		Indexes: []indexer.Index[*corev1.Pod]{refs.ByOwner[*corev1.Pod](), refs.ByReference[*corev1.Pod]()},
//	})
//	...
//	keys, err := pods.Indexer().FindKeys(refs.ReferringTo(refs.Ref{Kind: "Secret", Namespace: "shop", Name: "tls"}))
//
// The references of the types of k8s.io/api are known, wherever a Go type has them. A custom resource
// adds a function for its own, and an unstructured object has none but those.
//
// In client-go each program writes these index functions for itself.
//
// # Guarantees
//
//   - The object that is referred to may not exist yet, may be deleted, or be of a kind that nobody
//     watches. Looking up who refers to it decodes and reads no object.
//   - Owners are known by UID: what a deleted object owned does not belong to another of its name.
//     client-go's fakes give objects no UIDs, so [OwnedBy] finds nothing there unless a test sets them.
//   - References are what an object names outside of its status, in any version of the API that
//     k8s.io/api has. References of a new field are known with the next version of this module.
//   - An object with very many references costs time and memory for each; none is left out.
//   - All functions are safe for any goroutine, and read their arguments only. Index functions are called
//     by several stores at once.
//   - A panic of a function of a program costs its object the index by references alone, until its next
//     version, and is reported as that of any index function.
//
// References hold names of Secrets, and never their contents. A store that sees a share of its kind alone
// answers for that share: kinds that refer to each other are best shared by namespace.
package refs
