package informer

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// CONTRACT.md lists each statement once and in order, because tests and other documents refer to
// the numbers.
func TestTheContractIsComplete(t *testing.T) {
	text, err := os.ReadFile("CONTRACT.md")
	require.NoError(t, err)
	var got, want []string
	for _, match := range regexp.MustCompile(`(?m)^\* \*\*([BDT]\d+)\*\* `).FindAllSubmatch(text, -1) {
		got = append(got, string(match[1]))
	}
	for _, part := range []struct {
		letter string
		last   int
	}{{"B", 118}, {"D", 32}, {"T", 21}} {
		for n := range part.last {
			want = append(want, fmt.Sprint(part.letter, n+1))
		}
	}
	require.Equal(t, want, got)
}
