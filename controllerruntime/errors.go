package controllerruntime

import (
	"errors"
	"fmt"
)

var (
	// ErrOptions means that options contradict each other. The error says which.
	ErrOptions = errors.New("the options contradict each other")
	// ErrNotCached means that the manager does not cache objects of the type that [View] asks for.
	// The error says why, and what to do.
	ErrNotCached = errors.New("these objects are not cached")

	errNoConfig = errors.New("the config is nil")
	errForeign  = errors.New("the manager was not made by controllerruntime.NewManager")
)

// contradiction returns an ErrOptions with its reason.
func contradiction(why string) error { return fmt.Errorf("%w: %s", ErrOptions, why) }
