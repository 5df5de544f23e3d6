// Package informers has the names of client-go's package, and uses this module's engine. A program that
// imports it instead of client-go's needs no other change.
//
//	import "github.com/tidemark-k8s/tidemark/factory/informers" // instead of k8s.io/client-go/informers
//
// It adds only client-go's names and result types to package factory, for programs that move from client-go.
// New programs should import factory, whose constructors return a [*factory.Factory] with all its methods.
// The constructors of this package return the same type as client-go's interface:
//
//	pods, err := factory.For[*corev1.Pod](f.(*factory.Factory))
//
// Programs keep their imports of the packages below client-go's informers, such as informers/core/v1, for the
// types of accessors. But the constructors of these packages, such as New, NewPodInformer,
// NewFilteredPodInformer and NewPodInformerWithOptions, run client-go's engine. Generic functions replace
// them for all kinds: [factory.NewInformer], [factory.NewFilteredInformer] and
// [factory.NewInformerWithOptions].
//
// # Guarantees
//
//   - Every exported name of client-go's package is here. Functions have the same parameters and
//     results, and types are client-go's, so values can be passed between the packages.
//   - The only exception is the type [SharedInformerOption]. It configures this module's factory,
//     so options of client-go's package cannot be used here.
//   - Factories keep the guarantees of package factory.
package informers
