package report

import (
	"flag"
	"fmt"
	"io"
	"os"
)

// Main is the main function of a command that makes a section of a file from benchstat's medians.
// It reads the output of benchstat -format csv -col /impl, and prints the section; with -file it
// writes the section into its place in the file, and then calls beside with the file's name and what
// the section begins with: the machine and the command.
func (p Place) Main(section func(Medians) string, beside func(file, head string, m Medians) error) {
	file := flag.String("file", "", "write the section into the `file`")
	flag.Parse()
	if err := p.Make(os.Stdin, os.Stdout, *file, section, beside); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

// Make is Main without the flags and the end of the process. It returns [ErrNoMedians] without medians, and
// [ErrNoPlace] without a place in the file.
func (p Place) Make(from io.Reader, to io.Writer, file string, section func(Medians) string, beside func(file, head string, m Medians) error) error {
	medians, config, err := ReadMedians(from)
	if err != nil {
		return err
	}
	head := Machine(config, p.Command) + "\n"
	text := head + section(medians)
	if file == "" {
		_, err := io.WriteString(to, text)
		return err
	}
	if err := p.Write(file, text); err != nil {
		return err
	}
	return beside(file, head, medians)
}
