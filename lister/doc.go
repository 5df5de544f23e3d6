// Package lister reads an informer's store as controllers do: by name, by
// namespace and by label selector.
//
// In client-go this is what the generated listers do.
//
// # Guarantees
//
//   - Nothing here asks the API server; everything is as fresh as the store is.
//   - Get takes no lock. List answers label selectors from an index and returns
//     one moment of the store, as a slice of the caller's own.
//   - The objects are shared and must not be changed.
//   - All methods are safe for any goroutine, and a Lister may be copied.
package lister
