package object

import "k8s.io/apimachinery/pkg/util/resourceversion"

// Older tells whether a resourceVersion is known to be below another one. It is
// false where the two do not compare.
func Older(version, than string) bool {
	if version == than {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order < 0
}

// Advance moves a resourceVersion on: it returns next, unless that is empty or
// known to be older than current. A version that does not compare is taken as it
// comes.
func Advance(current, next string) string {
	if len(next) == len(current) && next > current {
		return next // newer, if they compare
	}
	if next == "" || Older(next, current) {
		return current
	}
	return next
}
