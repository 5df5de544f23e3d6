package share

import (
	"testing"
	"unsafe"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func unsafeData(s string) *byte { return unsafe.StringData(s) }
