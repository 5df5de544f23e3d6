package report

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var place = Place{Name: "bench", Command: "make bench"}

func TestSectionGetsIntoItsPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "README.md")
	other := Place{Name: "other", Command: "make other"}
	require.NoError(t, os.WriteFile(file, []byte("before\n"+other.Begin()+other.End()+place.Begin()+"old\n"+place.End()+"after\n"), 0o600))
	for range 2 { // the second round replaces the section of the first one
		require.NoError(t, place.Write(file, "new\n"))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, "before\n<!-- other: written by make other -->\n<!-- /other -->\n<!-- bench: written by make bench -->\nnew\n<!-- /bench -->\nafter\n", string(text))
	}
}

func TestFileWithoutAPlaceIsLeftAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "README.md")
	for _, text := range []string{"none\n", place.End() + place.Begin(), place.Begin()} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		require.ErrorIs(t, place.Write(file, ""), ErrNoPlace)
		kept, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, text, string(kept))
	}
}

func TestMediansAreReadFromBenchstat(t *testing.T) {
	m, config, err := ReadMedians(strings.NewReader(`goos: linux
,client-go,,typed,,,
,sec/op,CI,sec/op,CI,vs base,P
Event/1-2,1.5e-06,2%,1e-07,1%,-91%,p=0.1 n=5
EventInspected/1-2,,,2e-07,1%,,
geomean,1,,2,,,

,client-go,,typed,,,
,B/op,CI,B/op,CI,vs base,P
Event/1-2,860,2%,47,1%,-91%,p=0.1 n=5
`))

	require.NoError(t, err)
	require.Equal(t, map[string]string{"goos": "linux", "gomaxprocs": "2"}, config)
	require.Equal(t, Medians{
		"Event/1":          {"sec/op": {"client-go": 1.5e-6, "typed": 1e-7}, "B/op": {"client-go": 860, "typed": 47}},
		"EventInspected/1": {"sec/op": {"typed": 2e-7}},
	}, m)
}

func TestMediansThatAreNoneAreAnError(t *testing.T) {
	_, _, err := ReadMedians(strings.NewReader(""))
	require.ErrorIs(t, err, ErrNoMedians)
	_, _, err = ReadMedians(strings.NewReader(",a\n,sec/op\nB-2,many\n"))
	require.ErrorContains(t, err, "B: ")
}

func TestWithoutMediansNothingIsWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("README.md", []byte(place.Begin()+place.End()), 0o600))
	made := func(Medians) string { t.Error("made a section from nothing"); return "" }

	require.ErrorIs(t, place.Make(strings.NewReader("goos: linux\n"), io.Discard, "README.md", made, nil), ErrNoMedians)

	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	require.Equal(t, place.Begin()+place.End(), string(text))
}

func TestFiguresHaveThreeDigits(t *testing.T) {
	for want, got := range map[string]string{
		"0 ns": Duration(0), "187 ns": Duration(187.2e-9), "2.05 µs": Duration(2049e-9), "27.1 ms": Duration(27.06e-3),
		"1 µs": Duration(999.7e-9), "105 ms": Duration(105e-3), "1.50 s": Duration(1.5),
		"812 B": Size(812), "195 MB": Size(195e6),
		"13": Count(13), "1.01": Count(1.013), "1.19 M": Count(1.19e6), "9,999": Count(9999),
		"8x": Times(8), "15.7x": Times(15.68), "1,234x": Times(1234.4), "0.35x": Times(0.3488),
	} {
		require.Equal(t, want, got)
	}
}
