package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Duration formats seconds in a suitable unit.
func Duration(seconds float64) string { return scaled(seconds*1e9, "ns", "µs", "ms", "s") }

// Size formats a number of bytes.
func Size(bytes float64) string { return scaled(bytes, "B", "kB", "MB", "GB") }

// Count formats a number. It may be a mean.
func Count(n float64) string {
	if n >= 1e4 {
		return scaled(n, "", "k", "M", "G")
	}
	return digits(n)
}

// Times formats a ratio.
func Times(ratio float64) string { return digits(ratio) + "x" }

func scaled(v float64, units ...string) string {
	i := 0
	for i < len(units)-1 && v >= 999.5 {
		v /= 1000
		i++
	}
	return strings.TrimSpace(digits(v) + " " + units[i])
}

// digits formats a number with three digits, or with all digits before the decimal point.
func digits(v float64) string {
	switch rounded := math.Round(v); {
	case v >= 99.95:
		return grouped(int(rounded))
	case v < 0.005:
		return "0"
	case math.Abs(v-rounded) < 0.005:
		return strconv.Itoa(int(rounded))
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// grouped formats an integer with commas.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
