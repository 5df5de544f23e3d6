// Package chance lets a fuzzer drive a randomized test: the test's random numbers come from the
// fuzzer's bytes. Every string of bytes is a valid run, and changing one byte changes one choice.
package chance
