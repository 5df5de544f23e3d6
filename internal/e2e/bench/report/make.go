package report

import (
	"flag"
	"fmt"
	"io"
	"os"
)

// Main is the main function of a command that makes a README's section from benchstat's medians.
// It reads the output of benchstat -format csv -col /impl, and prints the section; with -readme it
// writes the section into its place in the file, and then calls beside with the file's name and what
// the section begins with: the machine and the command.
func (p Place) Main(section func(Medians) string, beside func(readme, head string, m Medians) error) {
	readme := flag.String("readme", "", "write the section into the `file`")
	flag.Parse()
	if err := p.Make(os.Stdin, os.Stdout, *readme, section, beside); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

// Make is Main without the flags and the end of the process. It returns [ErrNoMedians] without medians, and
// [ErrNoPlace] without a place in the file.
func (p Place) Make(from io.Reader, to io.Writer, readme string, section func(Medians) string, beside func(readme, head string, m Medians) error) error {
	medians, config, err := ReadMedians(from)
	if err != nil {
		return err
	}
	head := Machine(config, p.Command) + "\n"
	text := head + section(medians)
	if readme == "" {
		_, err := io.WriteString(to, text)
		return err
	}
	if err := p.Write(readme, text); err != nil {
		return err
	}
	return beside(readme, head, medians)
}
