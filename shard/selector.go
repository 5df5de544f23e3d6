package shard

import (
	"fmt"

	"k8s.io/apimachinery/pkg/sharding"
)

// Selector returns the value of a request's shardSelector that asks for the objects of the set. For the
// whole ring this is "", and for an empty set the narrowest selector that there is, of one hash. It stands
// in the URL with 100 bytes a range, and many proxies cut a URL at 8 kB: keep a share to some dozen ranges.
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
