// Package clientgostore shows stores of this module as client-go's Indexer, with which a program may also
// write by hand.
//
// A [Store] reads any store, and leaves writing to its [Writes]: those of an informer's store, in package
// informer, or those of a [Free] store, which belongs to no informer.
package clientgostore
