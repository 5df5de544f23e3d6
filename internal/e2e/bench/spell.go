package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// duration spells nanoseconds in the unit that suits them.
func duration(ns float64) string { return scaled(ns, 1000, "ns", "µs", "ms", "s") }

// size spells bytes.
func size(bytes float64) string { return scaled(bytes, 1000, "B", "kB", "MB", "GB") }

// count spells a number that may be an average.
func count(n float64) string {
	if n >= 1e4 {
		return scaled(n, 1000, "", "k", "M", "G")
	}
	return digits(n)
}

// times spells a ratio.
func times(ratio float64) string { return digits(ratio) + "x" }

func scaled(v, step float64, units ...string) string {
	i := 0
	for i < len(units)-1 && v >= step*0.9995 {
		v /= step
		i++
	}
	return strings.TrimSpace(digits(v) + " " + units[i])
}

// digits spells a number with three digits that count, or all before the point.
func digits(v float64) string {
	switch rounded := math.Round(v); {
	case v >= 99.95:
		return group(int(rounded))
	case v < 0.005:
		return "0"
	case math.Abs(v-rounded) < 0.005:
		return strconv.Itoa(int(rounded))
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// group spells an integer with commas.
func group(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
