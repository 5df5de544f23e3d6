// Package place finds the source position of a function. It identifies values of the same function
// literal: when the compiler inlines the enclosing function, it copies the literal. The copies have
// different addresses and names, but the same position.
package place
