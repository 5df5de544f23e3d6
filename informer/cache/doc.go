// Package cache is client-go's tools/cache over this module's engine: a program
// that imports it instead needs no other change to have its informers, stores
// and queues made here.
//
//	import "github.com/tidemark-k8s/tidemark/informer/cache" // instead of k8s.io/client-go/tools/cache
//
// Interfaces and types are client-go's own, under their own names, so that
// values go back and forth between both packages. Constructors are those of
// package informer; the few that return something else than client-go's are
// told in their comments, and MIGRATION.md lists what is not here and why.
//
// # Guarantees
//
//   - Every exported name of client-go's package is here, or is listed as
//     missing with the reason; a test compares.
//   - Nothing that is made here runs client-go's engine.
//   - Informers, stores and queues promise what package informer says of them.
package cache
