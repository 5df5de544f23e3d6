// Package lister reads an informer's store as controllers do: by name, by namespace and by
// label selector.
//
// In client-go these are the generated listers.
//
// # Guarantees
//
//   - A lister never asks the API server; its answers are as recent as the store.
//   - Get takes no lock. List answers label selectors from an index and returns the objects of
//     one moment, as a slice that belongs to the caller.
//   - The objects are shared and must not be changed.
//   - All methods are safe for any goroutine, and a Lister may be copied.
package lister
