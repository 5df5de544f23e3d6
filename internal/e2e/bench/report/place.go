package report

import (
	"fmt"
	"os"
	"strings"
)

// Place is where a section of a README stands that a command writes: between
// two comments, which nobody sees.
type Place struct {
	Name    string // of the section
	Command string // that writes it
}

// Begin is the line before the section.
func (p Place) Begin() string { return fmt.Sprintf("<!-- %s: written by %s -->\n", p.Name, p.Command) }

// End is the line after the section.
func (p Place) End() string { return fmt.Sprintf("<!-- /%s -->\n", p.Name) }

// Write puts a section into its place in a file. It returns [ErrNoPlace] where
// there is none.
func (p Place) Write(file, section string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, begun := strings.Cut(string(text), p.Begin())
	_, after, ended := strings.Cut(rest, p.End())
	if !begun || !ended {
		return fmt.Errorf("%s: %w, which is between the lines %s and %s", file, ErrNoPlace, strings.TrimSpace(p.Begin()), strings.TrimSpace(p.End()))
	}
	return os.WriteFile(file, []byte(before+p.Begin()+section+p.End()+after), 0o644)
}
