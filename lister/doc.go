// Package lister reads an informer's store as controllers do: by name, by namespace and by label
// selector:
//
//	pod, err := pods.Namespace("shop").Get("web")
//	all, err := pods.List(labels.Everything())
//
// In client-go, these are the generated listers.
//
// # Guarantees
//
//   - A lister sends no requests to the API server. Its results are as recent as the store.
//   - Get takes no lock. List answers label selectors from an index. It returns the objects of one
//     moment, in a slice that belongs to the caller.
//   - Programs share the objects and must not change them.
//   - All methods are safe for any goroutine. Programs may copy a Lister.
package lister
