// Package fakecodec is a codec for the stores of tests, which counts encodings and decodings.
//
// An encoded object shows only the identity of the object (namespace, name, UID and
// resourceVersion) and its labels. Code that takes an encoded object for the object itself panics, and so does code
// that decodes an object that is not encoded.
package fakecodec
