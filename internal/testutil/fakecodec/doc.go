// Package fakecodec is a codec for the stores of tests, which counts what it is
// asked for.
//
// What it makes of an object tells nobody anything but the object's identity: its
// namespace, name, UID and resourceVersion. Whoever takes it for the object itself, or
// the object for what is stored, panics.
package fakecodec
