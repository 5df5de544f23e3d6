package main

import (
	"fmt"
	"strings"
)

// bar draws how many of so many pods have come; of -1 where nobody knows. It
// fits on any terminal.
func bar(came, all int) string {
	const cells = 30
	if all < 0 {
		return "podwatch: " + portion(came, all)
	}
	full, percent := cells, 100
	if came < all {
		full, percent = cells*came/all, 100*came/all
	}
	return fmt.Sprintf("podwatch: [%s%s] %3d%%  %s", strings.Repeat("#", full), strings.Repeat(".", cells-full), percent, portion(came, all))
}

// portion says the same in words.
func portion(came, all int) string {
	if all < 0 {
		return count(came, "pod") + " so far"
	}
	return fmt.Sprintf("%d of %s", came, count(all, "pod"))
}
