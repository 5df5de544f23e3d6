package main

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The table in the repository is what the generator makes of this client-go.
func TestNoDrift(t *testing.T) {
	var made bytes.Buffer
	require.NoError(t, generate(&made))
	table, err := os.ReadFile("../../kinds_generated.go")
	require.NoError(t, err)
	require.Equal(t, string(table), made.String(), "run go generate in package factory")
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestGenerateTellsErrors(t *testing.T) {
	require.ErrorIs(t, generate(full{}), errFull)
}

// A client that does not fit is an error, not a kind that is left out.
func TestOddClients(t *testing.T) {
	type list struct{}
	type lists interface {
		List() (*list, error)
		Watch()
	}
	type group interface{ Odd() lists }
	m, _ := reflect.TypeFor[group]().MethodByName("Odd")
	_, _, err := kindOf(reflect.Method{Name: "OddV1"}, m, reflect.Value{})
	require.ErrorContains(t, err, "of OddV1.Odd has no Items")
}
