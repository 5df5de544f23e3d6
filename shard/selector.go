package shard

import (
	"fmt"

	"k8s.io/apimachinery/pkg/sharding"
)

// Selector returns the shardSelector of a request for the objects of the set. For the whole ring it
// is "". For an empty set it is the narrowest possible selector, which has one hash. The selector
// takes 100 bytes of the URL for each range, and many proxies limit URLs to 8 kB, so use at most a
// few dozen ranges.
func (s Set) Selector() string {
	if s.isWhole() {
		return ""
	}
	ranges := s.ranges
	if s.empty() {
		ranges = []Range{{From: 0, To: 1}}
	}
	requirements := make([]sharding.ShardRangeRequirement, len(ranges))
	for i, r := range ranges {
		requirements[i] = sharding.ShardRangeRequirement{Key: s.path(), Start: position(r.From), End: end(r.To)}
	}
	return sharding.NewSelector(requirements...).String()
}

// path returns the field in the server's spelling. For a set without a field, which is empty, it
// returns that of the UID.
func (s Set) path() string {
	if s.field == ByNamespace {
		return "object.metadata.namespace"
	}
	return "object.metadata.uid"
}

// position formats a hash as the server requires it: with 16 digits.
func position(hash uint64) string { return fmt.Sprintf("0x%016x", hash) }

// end formats the end of a range.
func end(to uint64) string {
	if to == 0 {
		return "0x10000000000000000"
	}
	return position(to)
}
