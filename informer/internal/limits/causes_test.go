package limits

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The number of remembered causes is limited.
func TestCausesAreForgotten(t *testing.T) {
	var c Causes
	now := time.Now()
	for n := range 10 * MostCauses {
		_, writes := c.Next(fmt.Sprint(n), now)
		require.True(t, writes)
		require.LessOrEqual(t, len(c.known), MostCauses)
	}
}
