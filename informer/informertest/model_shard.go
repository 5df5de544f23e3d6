package informertest

import (
	"fmt"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/apimachinery/pkg/types"
)

// shardRange matches a range of a shardSelector. kube-apiserver reads CEL; clients only write this form.
var shardRange = regexp.MustCompile(`^\s*shardRange\(\s*(object\.metadata\.(?:uid|namespace))\s*` +
	`,\s*'(0x[0-9a-f]{16}|0x10000000000000000)'\s*,\s*'(0x[0-9a-f]{16}|0x10000000000000000)'\s*\)\s*$`)

// parseShards reads a shardSelector: ranges of hashes of one field, joined by ||.
func parseShards(text string) (sharding.Selector, error) {
	var ranges []sharding.ShardRangeRequirement
	for part := range strings.SplitSeq(text, "||") {
		m := shardRange.FindStringSubmatch(part)
		if m == nil {
			return nil, errBadShards(fmt.Sprintf("%q is not shardRange(object.metadata.uid, '0x...', '0x...') with 16 digits", part))
		}
		r := sharding.ShardRangeRequirement{Key: m[1], Start: m[2], End: m[3]}
		switch {
		case !sharding.HexLess(r.Start, r.End):
			return nil, errBadShards(fmt.Sprintf("shard range start %s must be less than end %s", r.Start, r.End))
		case len(ranges) > 0 && ranges[0].Key != r.Key:
			return nil, errBadShards(fmt.Sprintf("all shard ranges must use the same field, got %q and %q", ranges[0].Key, r.Key))
		}
		ranges = append(ranges, r)
	}
	return sharding.NewSelector(ranges...), nil
}

// shardsOf returns the shards that a request selects. Without the feature gate, a request selects everything,
// whatever its shardSelector says.
func (m *model) shardsOf(selector string) (sharding.Selector, error) {
	if selector == "" || !m.sharded {
		return sharding.Everything(), nil
	}
	return parseShards(selector)
}

// inShards reports whether an object is in the selected shards.
func (s selection) inShards(obj apiObject) bool {
	if s.shards.Empty() {
		return true
	}
	in, err := s.shards.Matches(obj)
	return in && err == nil
}

// showShards records in a list which shards it shows. As on a real server, lists of custom resources have no
// field for it.
func (p page) showShards(list runtime.Object) {
	if typed, ok := list.(metav1.ShardedListInterface); ok && p.shards != "" {
		typed.SetShardInfo(&metav1.ShardInfo{Selector: p.shards})
	}
}

// uidOf returns the UID of an object that is created at a version. Its first digits differ greatly from one
// version to the next. UIDs that differ only at the end would have similar hashes, and all fall into one
// shard.
func uidOf(version uint64) types.UID {
	const golden = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	return types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", version*golden>>32, version))
}
