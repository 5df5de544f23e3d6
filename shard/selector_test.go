package shard

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/apimachinery/pkg/types"
)

// FuzzHash compares Hash with apimachinery's.
func FuzzHash(f *testing.F) {
	for _, value := range []string{"", "a", "default", "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee", "\xff\x00", strings.Repeat("x", 300)} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		require.Equal(t, sharding.HashField(value), fmt.Sprintf("%016x", Hash(value)))
	})
}

// selectorOf returns apimachinery's selector of some ranges.
func selectorOf(f Field, ranges []Range) sharding.Selector {
	key := "object.metadata.uid"
	if f == ByNamespace {
		key = "object.metadata.namespace"
	}
	var requirements []sharding.ShardRangeRequirement
	for _, r := range ranges {
		end := "0x10000000000000000"
		if r.To != 0 {
			end = fmt.Sprintf("0x%016x", r.To)
		}
		requirements = append(requirements, sharding.ShardRangeRequirement{Key: key, Start: fmt.Sprintf("0x%016x", r.From), End: end})
	}
	return sharding.NewSelector(requirements...)
}

// someRanges draws ranges, from few wide ones to many narrow ones.
func someRanges(r *rand.Rand) (ranges []Range) {
	width := uint(r.IntN(60))
	for range r.IntN(60) {
		from := r.Uint64()
		if to := from + 1 + r.Uint64()>>(63-width); to > from || to == 0 {
			ranges = append(ranges, Range{from, to})
		}
	}
	return ranges
}

func TestSetAndSelectorAgainstApimachinery(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	exact := 0
	for range 1000 {
		f := Field(1 + r.IntN(2))
		s, err := Of(f, someRanges(r)...)
		require.NoError(t, err)
		theirs := selectorOf(f, slices.Collect(s.Ranges()))
		if len(s.ranges) > 0 && !s.isWhole() {
			exact++
			require.Equal(t, theirs.String(), s.Selector())
		}
		for i := range 20 {
			namespace, uid := fmt.Sprint("n", r.IntN(1e6)), types.UID(fmt.Sprintf("%032x", r.Uint64()))
			in, err := theirs.Matches(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i), Namespace: namespace, UID: uid}})
			require.NoError(t, err)
			require.Equal(t, in && !s.empty(), s.Has(namespace, uid))
		}
	}
	require.Greater(t, exact, 100)
}

var shardRange = regexp.MustCompile(`^shardRange\(object\.metadata\.(uid|namespace), '0x([0-9a-f]{16})', '0x([0-9a-f]{16}|10000000000000000)'\)$`)

// parsed reads a selector, and requires that it is spelled as the server requires it.
func parsed(t *testing.T, selector string) (f Field, ranges []Range) {
	if selector == "" {
		return 0, []Range{{}}
	}
	for part := range strings.SplitSeq(selector, " || ") {
		m := shardRange.FindStringSubmatch(part)
		require.NotNil(t, m, part)
		from, err := strconv.ParseUint(m[2], 16, 64)
		require.NoError(t, err)
		var to uint64
		if len(m[3]) == 16 {
			to, err = strconv.ParseUint(m[3], 16, 64)
			require.NoError(t, err)
		}
		require.True(t, to == 0 || from < to, part)
		field := ByNamespace
		if m[1] == "uid" {
			field = ByUID
		}
		require.True(t, f == 0 || f == field, "one field")
		f, ranges = field, append(ranges, Range{from, to})
	}
	return f, ranges
}

// checkSelector checks that a selector has the ranges of its set.
func checkSelector(t *testing.T, s Set) {
	f, ranges := parsed(t, s.Selector())
	switch {
	case s.empty():
		require.Equal(t, []Range{{0, 1}}, ranges)
	case s.isWhole():
		require.Empty(t, s.Selector())
	default:
		require.Equal(t, s.Field(), f)
		require.Equal(t, s.ranges, ranges)
	}
}

// FuzzOf compares a set of any ranges with the ranges themselves, and with its selector.
func FuzzOf(f *testing.F) {
	f.Add(uint8(1), []byte{})
	f.Add(uint8(0), []byte{0, 0})
	f.Add(uint8(2), []byte{0, 0, 3, 9, 9, 3})
	random := make([]byte, 160)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(random) // never fails
	f.Add(uint8(1), random)
	f.Fuzz(func(t *testing.T, field uint8, data []byte) {
		var ranges []Range
		valid := field == 1 || field == 2
		for ; len(data) >= 2; data = data[2:] {
			r := Range{spread(data[0]), spread(data[1])}
			ranges = append(ranges, r)
			valid = valid && (r.To == 0 || r.From < r.To)
		}
		s, err := Of(Field(field), ranges...)
		require.Equal(t, valid, err == nil)
		if !valid {
			require.True(t, s.Equal(Set{}))
			return
		}
		for b := range 256 {
			for _, hash := range []uint64{spread(byte(b)) - 1, spread(byte(b))} {
				in := slices.ContainsFunc(ranges, func(r Range) bool { return r.From <= hash && (r.To == 0 || hash < r.To) })
				if s.contains(hash) != in {
					t.Fatalf("%v: %x: %v", ranges, hash, !in)
				}
			}
		}
		checkSelector(t, s)
	})
}

// spread makes a position on the ring from a byte: half of them are close to the beginning, and half anywhere.
func spread(b byte) uint64 {
	if b%2 == 0 {
		return uint64(b / 2)
	}
	return uint64(b)<<56 | uint64(b)
}

// FuzzParseNth reads any text: what it accepts is a share.
func FuzzParseNth(f *testing.F) {
	for _, text := range []string{"0/3", "2/3", "3/3", "-1/3", "+1/3", "1/99999999999999999999", "/", "", "0/3/3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		index, total, err := ParseNth(text)
		if err != nil {
			require.ErrorIs(t, err, ErrNth)
			require.Less(t, len(err.Error()), 500, "however long the text is")
			return
		}
		s, err := Nth(ByUID, index, total)
		require.NoError(t, err)
		require.False(t, s.empty())
		checkSelector(t, s)
		again, same, err := ParseNth(fmt.Sprintf("%d/%d", index, total))
		require.NoError(t, err)
		require.Equal(t, [2]int{index, total}, [2]int{again, same})
	})
}
