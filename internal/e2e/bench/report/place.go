package report

import (
	"fmt"
	"os"
	"strings"
)

// Place is the place in a file for a section that a command writes. Two HTML comments mark its beginning
// and its end.
type Place struct {
	Name    string // the name of the section
	Command string // the command that writes the section
}

// Begin is the line before the section.
func (p Place) Begin() string { return fmt.Sprintf("<!-- %s: written by %s -->\n", p.Name, p.Command) }

// End is the line after the section.
func (p Place) End() string { return fmt.Sprintf("<!-- /%s -->\n", p.Name) }

// Write replaces the section in a file. It returns [ErrNoPlace] if the file has no place for it.
func (p Place) Write(file, section string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, begun := strings.Cut(string(text), p.Begin())
	_, after, ended := strings.Cut(rest, p.End())
	if !begun || !ended {
		return fmt.Errorf("%s: %w between the lines %s and %s", file, ErrNoPlace, strings.TrimSpace(p.Begin()), strings.TrimSpace(p.End()))
	}
	return os.WriteFile(file, []byte(before+p.Begin()+section+p.End()+after), 0o644)
}
