// Package fakecodec is a codec for the stores of tests. It counts encodings and decodings.
//
// An encoded object shows only the identity of the object (namespace, name, UID and resourceVersion) and
// its labels. Code that uses an encoded object as if it were the object itself panics. Code that decodes
// an object that is not encoded panics, too.
package fakecodec
