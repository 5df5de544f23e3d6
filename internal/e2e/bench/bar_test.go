package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBarsAreMetByWhomTheyAskFor(t *testing.T) {
	r := result{medians: map[implementation]sample{
		clientgo: {value: 100, mallocs: 10, bytes: 1000},
		native:   {value: 10, mallocs: 1.4, bytes: 800},
		face:     {value: 20, mallocs: 1.6, bytes: 801},
	}}
	alone := result{medians: map[implementation]sample{native: {value: 10}}}
	for _, test := range []struct {
		bar       bar
		result    result
		text, met string
	}{
		{bar{}, r, "–", "–"},
		{bar{native: 10, face: 5}, r, "10x; face 5x", "yes"},
		{bar{native: 10, face: 10}, r, "10x, both", "face: no"},
		{bar{native: 11, face: 5}, r, "11x; face 5x", "native: no"},
		{bar{native: 11}, r, "11x, native", "no"},
		{bar{native: 11, face: 11}, r, "11x, both", "no"},
		{bar{face: 5}, r, "5x, face", "yes"},
		{bar{most: 20}, r, "≤ 20", "yes"},
		{bar{most: 19}, r, "≤ 19", "face: no"},
		{bar{most: 10}, alone, "≤ 10", "yes"},
		{bar{native: 10}, alone, "10x, native", "–"},
		{bar{mallocs: new(1.0)}, r, "≤ 1 allocations", "face: no"},
		{bar{mallocs: new(0.0)}, r, "≤ 0 allocations", "no"},
		{bar{mallocs: new(0.0)}, alone, "≤ 0 allocations", "yes"},
		{bar{native: 10, mallocs: new(1.0)}, r, "10x, native; ≤ 1 allocations", "yes"},
		{bar{native: 11, mallocs: new(1.0)}, r, "11x, native; ≤ 1 allocations", "no"},
		{bar{native: 10, face: 5, mallocs: new(1.0)}, r, "10x; face 5x; ≤ 1 allocations", "face: no"},
		{bar{native: 10, face: 5, bytes: 0.8}, r, "10x; face 5x; ≤ 80 % of the bytes", "face: no"},
		{bar{bytes: 0.8}, alone, "≤ 80 % of the bytes", "–"},
	} {
		require.Equal(t, test.text, test.bar.text(count))
		require.Equal(t, test.met, test.bar.met(test.result), "%+v", test.bar)
	}
}

func TestMedian(t *testing.T) {
	m := median([]sample{{value: 3, cpu: 1, note: "3"}, {value: 1, cpu: 9, note: "1"}, {value: 2, cpu: 5, note: "2"}})
	require.Equal(t, sample{value: 2, cpu: 5, note: "2"}, m)
}
