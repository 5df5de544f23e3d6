// Package object reads the metadata of API objects of any type.
//
// # Guarantees
//
// All functions are pure: they keep and change nothing, and are safe for any goroutine.
package object
