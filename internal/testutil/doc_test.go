package testutil_test

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestPackagesSayWhatTheyPromise(t *testing.T) {
	report(t, commentProblems(repository(t)))
}

func TestErrorsStandInOneFile(t *testing.T) {
	report(t, errorProblems(repository(t)))
}

func TestNothingSleeps(t *testing.T) {
	report(t, sleepProblems(repository(t)))
}

var guarantees = regexp.MustCompile(`(?m)^# Guarantees$`)

// commentProblems requires one package comment per package, in doc.go or, for a program, in main.go. A
// library's comment has a heading "Guarantees".
func commentProblems(sources []*source) []string {
	var problems []string
	comments := map[string][]*source{} // by folder
	for _, s := range sources {
		if s.isTest() {
			continue
		}
		known := comments[s.folder()]
		if s.file.Doc.Text() != "" {
			known = append(known, s)
		}
		comments[s.folder()] = known
	}
	for _, folder := range slices.Sorted(maps.Keys(comments)) {
		with := comments[folder]
		if len(with) == 0 {
			problems = append(problems, folder+" has no package comment: write it in "+path.Join(folder, "doc.go"))
		}
		for i, s := range with {
			switch inMain := s.file.Name.Name == "main" && s.base() == "main.go"; {
			case i > 0:
				problems = append(problems, s.problem(s.file.Doc.Pos(), "package %s already has a comment in %s", folder, with[0].base()))
			case s.base() != "doc.go" && !inMain:
				problems = append(problems, s.problem(s.file.Doc.Pos(), "the package comment belongs in doc.go"))
			case s.isLibrary() && !guarantees.MatchString(s.file.Doc.Text()):
				problems = append(problems, s.problem(s.file.Doc.Pos(), "a heading \"# Guarantees\" is missing: say what users can rely on"))
			}
		}
	}
	return problems
}

// errorProblems requires that libraries declare their errors in errors.go, where users find them for
// errors.Is.
func errorProblems(sources []*source) []string {
	var problems []string
	for _, s := range sources {
		if s.isTest() || !s.isLibrary() || s.base() == "errors.go" {
			continue
		}
		for u := range s.uses() {
			if u.pkg == "errors" && (u.name == "New" || u.name == ".") {
				problems = append(problems, s.problem(u.at, "declare and document this error in errors.go"))
			}
		}
	}
	return problems
}

// sleepProblems forbids time.Sleep, because a wait must end at once with its context.
func sleepProblems(sources []*source) []string {
	var problems []string
	for _, s := range sources {
		if s.isTest() || strings.HasPrefix(s.path, "examples/") {
			continue
		}
		for u := range s.uses() {
			if u.pkg == "time" && (u.name == "Sleep" || u.name == ".") {
				problems = append(problems, s.problem(u.at, "time.Sleep cannot be stopped: wait for a timer and a context"))
			}
		}
	}
	return problems
}

func TestCommentRulesCanFail(t *testing.T) {
	const promising = "// Package x does.\n//\n// # Guarantees\n//\n// All.\npackage x\n"
	try(t, []snippet{
		{"a library", "indexer/doc.go", promising, ""},
		{"an internal package", "internal/verify/doc.go", "// Package verify does.\npackage verify\n", ""},
		{"a program", "examples/podwatch/main.go", "// Podwatch does.\npackage main\n", ""},
		{"only tests", "indexer/a_test.go", "package indexer\n", ""},
		{"no comment", "indexer/doc.go", "package indexer\n", "no package comment"},
		{"a license is not a comment", "indexer/doc.go", "// License.\n\npackage indexer\n", "no package comment"},
		{"another file", "indexer/key.go", promising, "belongs in doc.go"},
		{"no guarantees", "indexer/doc.go", "// Package x does.\npackage x\n", "is missing"},
		{"guarantees in passing", "indexer/doc.go", "// Package x has no # Guarantees.\npackage x\n", "is missing"},
	}, commentProblems)
	t.Run("two comments", func(t *testing.T) {
		expect(t, commentProblems([]*source{parse(t, "indexer/doc.go", promising), parse(t, "indexer/key.go", promising)}), "already has a comment")
	})
}

func TestErrorRuleCanFail(t *testing.T) {
	const text = "package x\n\nimport \"errors\"\n\nvar errX = errors.New(\"x\")\n"
	try(t, []snippet{
		{"errors.go", "indexer/errors.go", text, ""},
		{"a test", "indexer/a_test.go", text, ""},
		{"an internal package", "internal/verify/a.go", text, ""},
		{"errors.Is", "indexer/a.go", "package x\n\nimport \"errors\"\n\nvar _ = errors.Is\n", ""},
		{"at package level", "indexer/a.go", text, "errors.go"},
		{"in a function", "indexer/a.go", "package x\n\nimport \"errors\"\n\nfunc f() error { return errors.New(\"x\") }\n", "errors.go"},
		{"an alias", "indexer/a.go", "package x\n\nimport e \"errors\"\n\nvar _ = e.New\n", "errors.go"},
	}, errorProblems)
}

func TestSleepRuleCanFail(t *testing.T) {
	const text = "package x\n\nimport \"time\"\n\nfunc f() { time.Sleep(1) }\n"
	try(t, []snippet{
		{"a test", "indexer/a_test.go", text, ""},
		{"an example", "examples/podwatch/main.go", text, ""},
		{"a timer", "indexer/a.go", "package x\n\nimport \"time\"\n\nvar _ = time.NewTimer\n", ""},
		{"a library", "indexer/a.go", text, "cannot be stopped"},
		{"an internal package", "internal/verify/a.go", text, "cannot be stopped"},
	}, sleepProblems)
}
