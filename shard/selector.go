package shard

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/sharding"
)

// maxRanges bounds the ranges of a selector: it stands in the URL, which proxies cut at 8 to 16 kB.
const maxRanges = 32

// Selector returns the value of a request's shardSelector that asks for the objects of the set. For the
// whole ring this is "", and for an empty set the narrowest selector that there is, of one hash. A set with
// more than 32 ranges is widened where they are closest, until 32 remain: the selector then asks for some
// foreign objects as well.
func (s Set) Selector() string {
	if s.IsWhole() {
		return ""
	}
	ranges := widened(s.ranges)
	if s.Empty() {
		ranges = []Range{{From: 0, To: 1}}
	}
	requirements := make([]sharding.ShardRangeRequirement, len(ranges))
	for i, r := range ranges {
		requirements[i] = sharding.ShardRangeRequirement{Key: s.path(), Start: position(r.From), End: end(r.To)}
	}
	return sharding.NewSelector(requirements...).String()
}

// widened returns at most maxRanges ranges that contain the given ones. It closes the smallest gaps.
func widened(ranges []Range) []Range {
	surplus := len(ranges) - maxRanges
	if surplus <= 0 {
		return ranges
	}
	gap := func(i int) uint64 { return ranges[i].From - ranges[i-1].To } // the one in front of range i
	closed := make([]int, len(ranges)-1)
	for i := range closed {
		closed[i] = i + 1
	}
	slices.SortStableFunc(closed, func(i, j int) int { return cmp.Compare(gap(i), gap(j)) })
	closed = closed[:surplus]
	slices.Sort(closed)
	wide := make([]Range, 0, maxRanges)
	for i, r := range ranges {
		if len(closed) > 0 && closed[0] == i {
			wide[len(wide)-1].To, closed = r.To, closed[1:]
			continue
		}
		wide = append(wide, r)
	}
	return wide
}

// path returns the field in the server's spelling. A set without a field, which is empty, gets that of the
// uid.
func (s Set) path() string {
	if s.field == ByNamespace {
		return "object.metadata.namespace"
	}
	return "object.metadata.uid"
}

// position spells a hash as the server requires it: with 16 digits.
func position(hash uint64) string { return fmt.Sprintf("0x%016x", hash) }

// end spells the end of a range.
func end(to uint64) string {
	if to == 0 {
		return "0x10000000000000000"
	}
	return position(to)
}
