// Package keeper is what a reflector and the sink of an informer say to each other, beyond what a reflector says to
// every sink: how the objects are decoded, which of them the sink has, and what the program has written itself.
package keeper
