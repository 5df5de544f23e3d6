package pack

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// indexed returns a base with its index.
func indexed(data string) *baseData {
	b := &baseData{data: []byte(data)}
	b.index.build(b.data)
	return b
}

// steps returns a difference. After the size, a pair is an operation and its count, and other parts follow it.
func steps(size uint64, parts ...any) []byte {
	d := binary.AppendUvarint(nil, size)
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			d = append(d, p...)
		case []int:
			d = binary.AppendUvarint(d, uint64(p[1])<<2|uint64(p[0]))
		case uint64:
			d = binary.AppendUvarint(d, p)
		}
	}
	return d
}

const pangram = "the quick brown fox jumps over the lazy dog"

func TestDifferences(t *testing.T) {
	hex := "0123456789abcdef"
	for _, c := range []struct {
		name, base, data string
		want             []byte // nil if no difference is smaller than data
	}{
		{"no data", pangram, "", nil},
		{"no base", "", "a text", nil},
		{"equal to the base", pangram, pangram, steps(43, []int{opCopy, 43})},
		{"the beginning of the base", pangram, pangram[:20], steps(20, []int{opCopy, 20})},
		{"the end of the base", pangram, pangram[20:], steps(23, []int{opCopyFrom, 23}, zigzag(20)<<1)},
		{"bytes replaced", pangram, strings.Replace(pangram, "brown", "BLACK", 1),
			steps(43, []int{opCopy, 10}, []int{opLiteral, 5}, "BLACK", []int{opCopy, 28})},
		{"a short copy at the cursor", pangram, "THE QUICK-brown " + strings.ToUpper(pangram[16:]),
			steps(43, []int{opLiteral, 10}, "THE QUICK-", []int{opCopy, 6}, []int{opLiteral, 27}, strings.ToUpper(pangram[16:]))},
		{"bytes inserted", pangram, strings.Replace(pangram, "quick", "very quick", 1),
			steps(48, []int{opCopy, 4}, []int{opLiteral, 4}, "very", []int{opCopyFrom, 40}, zigzag(-5)<<1)},
		{"bytes deleted", pangram, strings.Replace(pangram, "quick ", "", 1),
			steps(37, []int{opCopy, 4}, []int{opCopyFrom, 33}, zigzag(6)<<1)},
		{"a copy of the output", pangram, "the slowest fox; the slowest fox",
			steps(32, []int{opCopy, 4}, []int{opLiteral, 13}, "slowest fox; ", []int{opCopyFrom, 15}, uint64(17<<1|fromOutput))},
		{"hex digits", "", hex, steps(16, []int{opHex, 8}, "\x01\x23\x45\x67\x89\xab\xcd\xef")},
		{"an odd number of digits", "", "x" + hex + "0y", steps(19, []int{opLiteral, 1}, "x", []int{opHex, 8}, "\x01\x23\x45\x67\x89\xab\xcd\xef", []int{opLiteral, 2}, "0y")},
		{"uppercase hex digits", "", "ABCDEF0123", nil},
		{"too few hex digits", pangram, pangram + "0123456", steps(50, []int{opCopy, 43}, []int{opLiteral, 7}, "0123456")},
		{"more growth than allowed", "", strings.Repeat("a", 1<<16), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s search
			d := s.difference([]byte(c.data), indexed(c.base))
			require.Equal(t, c.want, d)
			if d != nil {
				got, err := apply([]byte("before "), []byte(c.base), d)
				require.NoError(t, err)
				require.Equal(t, "before "+c.data, string(got))
			}
		})
	}
}

func TestDamagedDifferencesAreErrors(t *testing.T) {
	for name, d := range map[string][]byte{
		"empty":                           {},
		"a truncated size":                {0x80},
		"a size above the allowed growth": steps(maxGrowth*(43+4) + 1),
		"a huge size":                     steps(1<<63, []int{opCopy, 1}),
		"no steps":                        steps(1),
		"a truncated number":              append(steps(3), 0x80),
		"a number that does not end":      append(steps(3), bytes.Repeat([]byte{0x80}, 10)...),
		"a number of six bytes":           append(steps(3), 0x8c, 0x80, 0x80, 0x80, 0x80, 0, 'a', 'b', 'c'),
		"more than the size":              steps(3, []int{opCopy, 4}),
		"more than the size, twice":       steps(3, []int{opCopy, 3}, []int{opCopy, 2}, []int{opCopy, 0}),
		"less than the size":              steps(5, []int{opCopy, 4}),
		"a step after the last":           steps(4, []int{opCopy, 4}, []int{opLiteral, 1}, "a"),
		"a truncated literal":             steps(3, []int{opLiteral, 3}, "ab"),
		"truncated hex digits":            steps(4, []int{opHex, 2}, "a"),
		"more digits than the size":       steps(3, []int{opHex, 2}, "ab"),
		"many more digits than the size":  steps(40, []int{opHex, 40}, strings.Repeat("a", 40)),
		"beyond the base":                 steps(44, []int{opCopy, 44}),
		"a jump without a distance":       steps(4, []int{opCopyFrom, 4}),
		"a jump before the base":          steps(4, []int{opCopyFrom, 4}, zigzag(-1)<<1),
		"a jump beyond the base":          steps(4, []int{opCopyFrom, 4}, zigzag(40)<<1),
		"the furthest jump":               steps(4, []int{opCopyFrom, 4}, uint64(1<<35-2)),
		"back before the beginning":       steps(5, []int{opLiteral, 2}, "ab", []int{opCopyFrom, 3}, uint64(3<<1|fromOutput)),
		"back to bytes not written yet":   steps(5, []int{opLiteral, 2}, "ab", []int{opCopyFrom, 3}, uint64(2<<1|fromOutput)),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := apply([]byte("before"), []byte(pangram), d)
			require.ErrorIs(t, err, ErrDamaged)
			require.Equal(t, "before", string(got))
		})
	}
}

func TestTheIndexFindsMostLongCopies(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	base := indexed(string(text(1000)))
	var s search
	var found [stride]int
	for at := range 900 {
		if s.difference(slices.Concat(text(13), base.data[at:at+window+stride-1], text(13)), base) != nil {
			found[at%stride]++
		}
	}
	for _, n := range found {
		assert.Greater(t, n, 900/stride/2, "at any offset, indexed or not")
	}
}

// FuzzDifference computes the difference of random bytes to a random base, and applies it.
func FuzzDifference(f *testing.F) {
	f.Add([]byte(pangram), []byte("the quick brown cat jumps over 0123456789abcdef the lazy dog"))
	f.Add([]byte(nil), bytes.Repeat([]byte("0f"), 99))
	f.Fuzz(func(t *testing.T, base, data []byte) {
		base = base[:min(len(base), maxBase)]
		var s search
		d := s.difference(data, indexed(string(base)))
		if d == nil {
			return
		}
		require.Less(t, len(d), len(data))
		got, err := apply(nil, base, d)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got))
	})
}

// FuzzApply applies random bytes as a difference. The result is an error, or an output within maxGrowth.
func FuzzApply(f *testing.F) {
	for _, d := range [][]byte{
		steps(43, []int{opCopy, 10}, []int{opLiteral, 5}, "BLACK", []int{opCopy, 28}),
		steps(17, []int{opLiteral, 1}, "x", []int{opHex, 8}, "\x01\x23\x45\x67\x89\xab\xcd\xef"),
		steps(23, []int{opCopyFrom, 19}, zigzag(20)<<1, []int{opCopyFrom, 4}, uint64(5<<1|fromOutput)),
	} {
		f.Add([]byte(pangram), d)
	}
	f.Fuzz(func(t *testing.T, base, d []byte) {
		got, err := apply(nil, base, d)
		require.LessOrEqual(t, cap(got), 2*maxGrowth*(len(base)+len(d))+64)
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			require.Empty(t, got)
		}
	})
}
