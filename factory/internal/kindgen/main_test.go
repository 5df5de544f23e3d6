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

// The generated files in the repository match this version of client-go.
func TestNoDrift(t *testing.T) {
	for name, write := range files {
		var want bytes.Buffer
		require.NoError(t, write(&want))
		got, err := os.ReadFile("../../" + name)
		require.NoError(t, err)
		require.Equal(t, want.String(), string(got), "run go generate in package factory")
	}
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestGenerateReturnsErrors(t *testing.T) {
	require.ErrorIs(t, generate(full{}), errFull)
}

// A client with unexpected types is an error; its kind is not silently left out.
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
