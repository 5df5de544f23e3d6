package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFiguresHaveThreeDigits(t *testing.T) {
	for want, got := range map[string]string{
		"0 ns": duration(0), "187 ns": duration(187.2), "2.05 µs": duration(2049), "27.1 ms": duration(27.06e6),
		"1 µs": duration(999.7), "105 ms": duration(105e6), "1.50 s": duration(1.5e9),
		"812 B": size(812), "195 MB": size(195e6),
		"13": count(13), "1.01": count(1.013), "1.19 M": count(1.19e6), "9,999": count(9999),
		"8x": times(8), "15.7x": times(15.68), "1,234x": times(1234.4), "0.35x": times(0.3488),
		"100,000": group(100_000), "12": group(12),
	} {
		require.Equal(t, want, got)
	}
}
