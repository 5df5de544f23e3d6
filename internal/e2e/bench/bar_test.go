package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBarsAreMetByWhomTheyAskFor(t *testing.T) {
	r := result{medians: map[implementation]sample{clientgo: {value: 100}, native: {value: 10}, face: {value: 20}}}
	alone := result{medians: map[implementation]sample{native: {value: 10}}}
	for _, test := range []struct {
		bar       bar
		result    result
		text, met string
	}{
		{bar{}, r, "–", "–"},
		{bar{native: 10, face: 5}, r, "10x; face 5x", "yes"},
		{bar{native: 10, face: 10}, r, "10x, both", "face: no"},
		{bar{native: 11}, r, "11x, native", "no"},
		{bar{native: 11, face: 11}, r, "11x, both", "no"},
		{bar{most: 20}, r, "≤ 20", "yes"},
		{bar{most: 19}, r, "≤ 19", "face: no"},
		{bar{most: 10}, alone, "≤ 10", "yes"},
		{bar{native: 10}, alone, "10x, native", "–"},
	} {
		require.Equal(t, test.text, test.bar.text(count))
		require.Equal(t, test.met, test.bar.met(test.result), "%+v", test.bar)
	}
}

func TestMedian(t *testing.T) {
	m := median([]sample{{value: 3, cpu: 1, note: "3"}, {value: 1, cpu: 9, note: "1"}, {value: 2, cpu: 5, note: "2"}})
	require.Equal(t, sample{value: 2, cpu: 5, note: "2"}, m)
}
