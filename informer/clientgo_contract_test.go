package informer_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// docs/contract.md lists each statement once and in order, because tests and other documents refer to
// the numbers. The number of a statement that was taken out stays free.
func TestTheContractIsComplete(t *testing.T) {
	text, err := os.ReadFile("../docs/contract.md")
	require.NoError(t, err)
	takenOut := []string{"B22", "B92", "B118", "D34"}
	var got, want []string
	for _, match := range regexp.MustCompile(`(?m)^\* \*\*([BDT]\d+)\*\* `).FindAllSubmatch(text, -1) {
		got = append(got, string(match[1]))
	}
	for _, part := range []struct {
		letter string
		last   int
	}{{"B", 118}, {"D", 49}, {"T", 21}} {
		for n := range part.last {
			if number := fmt.Sprint(part.letter, n+1); !slices.Contains(takenOut, number) {
				want = append(want, number)
			}
		}
	}
	require.Equal(t, want, got)
}
