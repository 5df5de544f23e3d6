package object

import "k8s.io/apimachinery/pkg/util/resourceversion"

// Older reports whether version is known to be older than another resourceVersion. It returns false if
// the two cannot be compared.
func Older(version, than string) bool {
	if version == than {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order < 0
}

// Comparable reports whether a resourceVersion can be compared with others.
func Comparable(version string) bool {
	_, err := resourceversion.CompareResourceVersion(version, version)
	return err == nil
}

// Advance returns the next resourceVersion, or current if next is empty or known to be older. If the two
// cannot be compared, it returns next.
func Advance(current, next string) string {
	if len(next) == len(current) && next > current {
		return next // newer, if they compare
	}
	if next == "" || Older(next, current) {
		return current
	}
	return next
}
