package shard

// Hash returns the hash of a UID or a namespace: FNV-1a with 64 bits, as kube-apiserver computes
// it. An object without a UID has the hash of "".
func Hash(value string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	hash := uint64(offset)
	for i := range len(value) {
		hash = (hash ^ uint64(value[i])) * prime
	}
	return hash
}
