// Package clientgostore presents stores of this module as client-go's Indexer, which a program may also write
// to by hand.
//
// A [Store] reads any store, and leaves writing to its [Writes]. Package informer has those of an informer's
// store. A [Free] store, which has no informer, has its own.
package clientgostore
