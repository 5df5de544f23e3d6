// Package chance lets a fuzzer drive a randomized test: the test's random numbers come from the fuzzer's
// bytes. Any bytes are a valid run, and changing one byte changes one choice.
package chance
