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

// opened returns a base with its index.
func opened(data string) *openBase {
	b := &openBase{data: []byte(data)}
	b.index.build(b.data)
	return b
}

// steps writes a difference: its size, then for each step its operation, its count and what follows.
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
		want             []byte // nil: the bytes themselves are smaller
	}{
		{"nothing", pangram, "", nil},
		{"no base", "", "a text", nil},
		{"the base", pangram, pangram, steps(43, []int{opNext, 43})},
		{"its beginning", pangram, pangram[:20], steps(20, []int{opNext, 20})},
		{"its end", pangram, pangram[20:], steps(23, []int{opJump, 23}, zigzag(20)<<1)},
		{"as many other bytes", pangram, strings.Replace(pangram, "brown", "BLACK", 1),
			steps(43, []int{opNext, 10}, []int{opText, 5}, "BLACK", []int{opNext, 28})},
		{"few equal bytes", pangram, "THE QUICK-brown " + strings.ToUpper(pangram[16:]),
			steps(43, []int{opText, 10}, "THE QUICK-", []int{opNext, 6}, []int{opText, 27}, strings.ToUpper(pangram[16:]))},
		{"bytes inserted", pangram, strings.Replace(pangram, "quick", "very quick", 1),
			steps(48, []int{opNext, 4}, []int{opText, 4}, "very", []int{opJump, 40}, zigzag(-5)<<1)},
		{"bytes missing", pangram, strings.Replace(pangram, "quick ", "", 1),
			steps(37, []int{opNext, 4}, []int{opJump, 33}, zigzag(6)<<1)},
		{"what was made before", pangram, "the slowest fox; the slowest fox",
			steps(32, []int{opNext, 4}, []int{opText, 13}, "slowest fox; ", []int{opJump, 15}, uint64(17<<1|fromMade))},
		{"digits", "", hex, steps(16, []int{opHex, 8}, "\x01\x23\x45\x67\x89\xab\xcd\xef")},
		{"an odd number of digits", "", "x" + hex + "0y", steps(19, []int{opText, 1}, "x", []int{opHex, 8}, "\x01\x23\x45\x67\x89\xab\xcd\xef", []int{opText, 2}, "0y")},
		{"capital digits", "", "ABCDEF0123", nil},
		{"few digits", pangram, pangram + "0123456", steps(50, []int{opNext, 43}, []int{opText, 7}, "0123456")},
		{"more than may come of so little", "", strings.Repeat("a", 1<<16), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s search
			d := s.difference([]byte(c.data), opened(c.base))
			require.Equal(t, c.want, d)
			if d != nil {
				got, err := undo([]byte("before "), []byte(c.base), d)
				require.NoError(t, err)
				require.Equal(t, "before "+c.data, string(got))
			}
		})
	}
}

func TestDamagedDifferencesAreErrors(t *testing.T) {
	for name, d := range map[string][]byte{
		"nothing":                          {},
		"half a size":                      {0x80},
		"a size above what may come of it": steps(growth*(43+4) + 1),
		"a huge size":                      steps(1<<63, []int{opNext, 1}),
		"no steps":                         steps(1),
		"half a number":                    append(steps(3), 0x80),
		"a number that does not end":       append(steps(3), bytes.Repeat([]byte{0x80}, 10)...),
		"a number of six bytes":            append(steps(3), 0x8c, 0x80, 0x80, 0x80, 0x80, 0, 'a', 'b', 'c'),
		"more than the size":               steps(3, []int{opNext, 4}),
		"more than the size, and more":     steps(3, []int{opNext, 3}, []int{opNext, 2}, []int{opNext, 0}),
		"less than the size":               steps(5, []int{opNext, 4}),
		"a step after the last":            steps(4, []int{opNext, 4}, []int{opText, 1}, "a"),
		"text that is missing":             steps(3, []int{opText, 3}, "ab"),
		"digits that are missing":          steps(4, []int{opHex, 2}, "a"),
		"more digits than the size":        steps(3, []int{opHex, 2}, "ab"),
		"many more digits than the size":   steps(40, []int{opHex, 40}, strings.Repeat("a", 40)),
		"beyond the base":                  steps(44, []int{opNext, 44}),
		"a jump without a place":           steps(4, []int{opJump, 4}),
		"a jump before the base":           steps(4, []int{opJump, 4}, zigzag(-1)<<1),
		"a jump beyond the base":           steps(4, []int{opJump, 4}, zigzag(40)<<1),
		"the furthest jump":                steps(4, []int{opJump, 4}, uint64(1<<35-2)),
		"back behind the beginning":        steps(5, []int{opText, 2}, "ab", []int{opJump, 3}, uint64(3<<1|fromMade)),
		"back to what is not made yet":     steps(5, []int{opText, 2}, "ab", []int{opJump, 3}, uint64(2<<1|fromMade)),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := undo([]byte("before"), []byte(pangram), d)
			require.ErrorIs(t, err, ErrDamaged)
			require.Equal(t, "before", string(got))
		})
	}
}

func TestMostOfWhatIsLongEnoughIsFound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	base := opened(string(text(1000)))
	var s search
	var found [stride]int
	for at := range 900 {
		if s.difference(slices.Concat(text(13), base.data[at:at+window+stride-1], text(13)), base) != nil {
			found[at%stride]++
		}
	}
	for _, n := range found {
		assert.Greater(t, n, 900/stride/2, "of any place, whichever are in the index")
	}
}

// FuzzDifference packs any bytes as the difference to any others.
func FuzzDifference(f *testing.F) {
	f.Add([]byte(pangram), []byte("the quick brown cat jumps over 0123456789abcdef the lazy dog"))
	f.Add([]byte(nil), bytes.Repeat([]byte("0f"), 99))
	f.Fuzz(func(t *testing.T, base, data []byte) {
		base = base[:min(len(base), maxBase)]
		var s search
		d := s.difference(data, opened(string(base)))
		if d == nil {
			return
		}
		require.Less(t, len(d), len(data))
		got, err := undo(nil, base, d)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got))
	})
}

// FuzzUndo undoes any bytes. Whatever comes of them is an error, or bytes that were read or so many
// times as many.
func FuzzUndo(f *testing.F) {
	for _, d := range [][]byte{
		steps(43, []int{opNext, 10}, []int{opText, 5}, "BLACK", []int{opNext, 28}),
		steps(17, []int{opText, 1}, "x", []int{opHex, 8}, "\x01\x23\x45\x67\x89\xab\xcd\xef"),
		steps(23, []int{opJump, 19}, zigzag(20)<<1, []int{opJump, 4}, uint64(5<<1|fromMade)),
	} {
		f.Add([]byte(pangram), d)
	}
	f.Fuzz(func(t *testing.T, base, d []byte) {
		got, err := undo(nil, base, d)
		require.LessOrEqual(t, cap(got), 2*growth*(len(base)+len(d))+64)
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			require.Empty(t, got)
		}
	})
}
