package object

import "k8s.io/apimachinery/pkg/util/resourceversion"

// Older reports whether a resourceVersion is known to be below another one. It is false if the
// two do not compare.
func Older(version, than string) bool {
	if version == than {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order < 0
}

// Comparable reports whether a resourceVersion compares with others.
func Comparable(version string) bool {
	_, err := resourceversion.CompareResourceVersion(version, version)
	return err == nil
}

// Advance returns the next resourceVersion, or the current one if next is empty or known to be
// older. If the two do not compare, it returns next.
func Advance(current, next string) string {
	if len(next) == len(current) && next > current {
		return next // newer, if they compare
	}
	if next == "" || Older(next, current) {
		return current
	}
	return next
}
