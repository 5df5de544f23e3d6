package main

import (
	"fmt"
	"strings"
	"time"
)

// bar draws the number of pods received, of all pods; all is -1 if the number is unknown. The pace
// follows if the line has room for it.
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

// pace formats the bytes received and the pods per second. In the first second it leaves out the
// rate.
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

// portion formats the numbers in words.
func portion(came, all int) string {
	if all < 0 {
		return count(came, "pod") + " so far"
	}
	return fmt.Sprintf("%d of %s", came, count(all, "pod"))
}
