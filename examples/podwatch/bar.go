package main

import (
	"fmt"
	"strings"
	"time"
)

// bar draws how many of so many pods have come; of -1 where nobody knows. Behind it stands how
// fast they come, where there is room: it fits on any terminal.
func bar(came, all int, pace string) string {
	const cells, columns = 30, 79
	text := "podwatch: " + portion(came, all)
	if all >= 0 {
		full, percent := cells, 100
		if came < all {
			full, percent = cells*came/all, 100*came/all
		}
		text = fmt.Sprintf("podwatch: [%s%s] %3d%%  %s", strings.Repeat("#", full), strings.Repeat(".", cells-full), percent, portion(came, all))
	}
	if len(text)+len(pace) > columns {
		return text
	}
	return text + pace
}

// pace says how much has come since it began, and how many a second: nothing in the first moments,
// in which that says nothing.
func pace(pods int, bytes int64, since time.Duration) string {
	text := ""
	if bytes > 0 {
		text = fmt.Sprintf(", %.1f MB", float64(bytes)/1e6)
	}
	if since >= time.Second {
		text += fmt.Sprintf(", %.0f/s", float64(pods)/since.Seconds())
	}
	return text
}

// portion says the same in words.
func portion(came, all int) string {
	if all < 0 {
		return count(came, "pod") + " so far"
	}
	return fmt.Sprintf("%d of %s", came, count(all, "pod"))
}
