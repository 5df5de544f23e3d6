package controllerruntime

import (
	"errors"
	"fmt"
)

// ErrOptions is returned for options that contradict each other. The error says which.
var ErrOptions = errors.New("the options contradict each other")

var errNoConfig = errors.New("the config is nil")

// contradiction returns an ErrOptions with its reason.
func contradiction(why string) error { return fmt.Errorf("%w: %s", ErrOptions, why) }
