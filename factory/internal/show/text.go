package show

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidemark-k8s/tidemark/informer"
)

// Number formats a number with commas between the thousands.
func Number[N int | int64 | uint64](n N) string {
	digits := strconv.FormatUint(uint64(n), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Many formats a number of things, with the plural.
func Many(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return Number(n) + " " + of + "s"
}

// Unindexed names the objects that are missing from indexes.
func Unindexed(s informer.Status) string {
	var which []string
	for _, e := range s.UnindexedErrors {
		which = append(which, fmt.Sprintf("%v from %s", e.Key, e.Index))
	}
	if len(which) < s.Unindexed {
		which = append(which, "…")
	}
	return Many(s.Unindexed, "object") + " missing from an index: " + strings.Join(which, ", ")
}
