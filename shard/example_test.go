package shard_test

import (
	"fmt"
	"strings"

	"github.com/tidemark-k8s/tidemark/shard"
)

// A replica of three gets its share from a flag such as --shard=1/3.
func ExampleParseNth() {
	index, total, err := shard.ParseNth("1/3")
	if err != nil {
		panic(err)
	}
	share, err := shard.Nth(shard.ByUID, index, total)
	if err != nil {
		panic(err)
	}
	fmt.Println(share)
	fmt.Println(share.Has("default", "3f1b2c9e-0000-4000-8000-000000000001"))

	_, _, err = shard.ParseNth("3/3")
	fmt.Println(err)
	// Output:
	// uid: 33.3% of the ring, [0x5555555555555555, 0xaaaaaaaaaaaaaaaa)
	// true
	// the shares of N replicas are 0/N to N-1/N, not "3/3"
}

// A pod of a StatefulSet has its index in its name.
func ExampleNth() {
	hostname := "mycontroller-2"
	ordinal := hostname[strings.LastIndex(hostname, "-")+1:]
	index, total, err := shard.ParseNth(ordinal + "/4")
	if err != nil {
		panic(err)
	}
	share, err := shard.Nth(shard.ByNamespace, index, total)
	if err != nil {
		panic(err)
	}
	fmt.Println(share)
	// Output: namespace: 25% of the ring, [0x8000000000000000, 0xc000000000000000)
}

// Two parts of the ring, one at its beginning and one at its end.
func ExampleOf() {
	share, err := shard.Of(shard.ByUID, shard.Range{To: 1 << 60}, shard.Range{From: 15 << 60})
	if err != nil {
		panic(err)
	}
	for r := range share.Ranges() {
		fmt.Printf("%x to %x\n", r.From, r.To)
	}
	// Output:
	// 0 to 1000000000000000
	// f000000000000000 to 0
}

func ExampleSet_Selector() {
	half, err := shard.Nth(shard.ByUID, 1, 2)
	if err != nil {
		panic(err)
	}
	fmt.Println(half.Selector())
	fmt.Printf("%q\n", shard.Whole(shard.ByUID).Selector())
	// Output:
	// shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')
	// ""
}
