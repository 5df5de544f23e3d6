// Package place tells where a function is written. It is how two values of one function literal are recognised: the
// compiler copies a literal into each function that calls its own inline, where it has another address and another
// name, but the same place.
package place
