// Package metadatainformer is client-go's metadatainformer over this module's engine: a
// program that imports it instead needs no other change to have its informers of
// metadata made here.
//
//	import "github.com/tidemark-k8s/tidemark/factory/metadatainformer" // instead of k8s.io/client-go/metadata/metadatainformer
//
// It adds nothing to package factory but client-go's names and result types. A program
// that moves imports this package; one that is written anew imports factory, whose
// [factory.NewMetadataSharedInformerFactory] returns a [*factory.MetadataFactory] with
// all its methods. What is made here is one too, behind client-go's interface:
//
//	pods, err := f.(*factory.MetadataFactory).For(resource)
//
// # Guarantees
//
//   - Every exported name of client-go's package is here. Functions have its parameters
//     and results, types are its own, so that values go back and forth.
//   - The one type that differs is [SharedInformerOption], since the factory that it
//     configures is ours: an option of client-go's package is not one of these.
//   - An informer of [NewFilteredMetadataInformer] has the index "namespace" whether or
//     not it is asked for.
//   - Factories and informers promise what package factory says of them.
package metadatainformer
