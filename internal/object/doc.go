// Package object reads the metadata of API objects of any type. An [Identity] names one version of one object.
//
// # Guarantees
//
// All functions are pure: they keep and change nothing. Any goroutine may call them.
package object
