// Package keeper is the internal interface between a reflector and an informer's sink. It adds to the
// reflector's public Sink how objects are decoded, which objects the sink already has, and what the
// program itself has written.
package keeper
