// Package chance lets a fuzzer play the tests that random numbers drive: it
// makes the numbers of the fuzzer's bytes. Every string of bytes is then a valid
// run of such a test, and one that differs in a byte makes one choice differently.
package chance
