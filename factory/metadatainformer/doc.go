// Package metadatainformer has the names of client-go's package, and uses this module's engine. A program
// that imports it instead of client-go's needs no other change.
//
//	import "github.com/tidemark-k8s/tidemark/factory/metadatainformer" // instead of k8s.io/client-go/metadata/metadatainformer
//
// It adds only client-go's names and result types to package factory, for programs that move from client-go.
// New programs should import factory: its [factory.NewMetadataSharedInformerFactory] returns a
// [*factory.MetadataFactory] with all its methods. The constructors of this package return the same type as
// client-go's interface:
//
//	pods, err := f.(*factory.MetadataFactory).For(resource)
//
// # Guarantees
//
//   - Every exported name of client-go's package is here. Functions have the same parameters and
//     results, and types are client-go's, so values can be passed between the packages.
//   - The only exception is the type [SharedInformerOption]. It configures this module's factory,
//     so options of client-go's package cannot be used here.
//   - An informer of [NewFilteredMetadataInformer] always has the index "namespace".
//   - Factories and informers keep the guarantees of package factory.
package metadatainformer
