// Package object says what the packages of this module need to know of any
// object of the API, whatever its type.
//
// # Guarantees
//
// Everything here is a function of what it is given: it keeps nothing, changes
// nothing, and may be called by any goroutine.
package object
