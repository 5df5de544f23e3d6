// Package informers is client-go's informers over this module's engine: a program that
// imports it instead needs no other change to have its shared informers made here.
//
//	import "github.com/tidemark-k8s/tidemark/factory/informers" // instead of k8s.io/client-go/informers
//
// It adds nothing to package factory but client-go's names and result types. A program
// that moves imports this package; one that is written anew imports factory, whose
// constructors return a [*factory.Factory] with all its methods.
//
// What is made here is such a Factory too, behind client-go's interface. Package factory
// takes it as one:
//
//	pods, err := factory.For[*corev1.Pod](f.(*factory.Factory))
//
// The packages below client-go's informers, such as informers/core/v1, stay as they are:
// their accessors run on any factory. Their constructors, such as NewPodInformer,
// NewFilteredPodInformer and NewPodInformerWithOptions, run client-go's engine. Generic
// functions take their places for all kinds: [factory.NewInformer],
// [factory.NewFilteredInformer] and [factory.NewInformerWithOptions].
//
// # Guarantees
//
//   - Every exported name of client-go's package is here. Functions have its parameters
//     and results, types are its own, so that values go back and forth.
//   - The one type that differs is [SharedInformerOption], since the factory that it
//     configures is ours: an option of client-go's package is not one of these.
//   - Factories promise what package factory says of them.
package informers
