// Package dynamicinformer is client-go's dynamicinformer over this module's engine: a
// program that imports it instead needs no other change to have its informers of
// unstructured objects made here.
//
//	import "github.com/tidemark-k8s/tidemark/factory/dynamicinformer" // instead of k8s.io/client-go/dynamic/dynamicinformer
//
// It adds nothing to package factory but client-go's names and result types. A program
// that moves imports this package; one that is written anew imports factory, whose
// [factory.NewDynamicSharedInformerFactory] returns a [*factory.DynamicFactory] with all
// its methods. What is made here is one too, behind client-go's interface:
//
//	pods, err := f.(*factory.DynamicFactory).For(resource)
//
// # Guarantees
//
//   - Every exported name of client-go's package is here. Functions have its parameters
//     and results, types are its own, so that values go back and forth.
//   - An informer of [NewFilteredDynamicInformer] has the index "namespace" whether or
//     not it is asked for.
//   - Factories and informers promise what package factory says of them.
package dynamicinformer
