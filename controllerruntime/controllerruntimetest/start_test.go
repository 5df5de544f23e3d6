package controllerruntimetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	ctrl "sigs.k8s.io/controller-runtime"
)

// failing is a manager that fails when it is stopped.
type failing struct{ ctrl.Manager }

func (failing) Start(ctx context.Context) error {
	<-ctx.Done()
	return errors.New("the lease was lost")
}

func (failing) GetHTTPClient() *http.Client { return new(http.Client) }

// failures records the failures of a test.
type failures struct {
	testing.TB
	all []string
}

func (f *failures) Errorf(format string, args ...any) {
	f.all = append(f.all, fmt.Sprintf(format, args...))
}

func TestAManagerThatFailsFailsTheTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &failures{TB: t}
		stop := Start(f, failing{})
		require.Empty(t, f.all)
		stop()
		require.Equal(t, []string{"the manager failed: the lease was lost"}, f.all)
	})
}
