package report

import (
	"flag"
	"fmt"
	"io"
	"os"
)

// Main is the main function of a command that makes a section of a file from benchstat's medians. It
// reads the output of benchstat -format csv -col /impl, and prints the section. With -file it writes the
// section to its place in the file. Then it calls after with the name of the file and the head of the
// section, which has the machine and the command.
func (p Place) Main(section func(Medians) string, after func(file, head string, m Medians) error) {
	file := flag.String("file", "", "write the section to the `file`")
	flag.Parse()
	if err := p.Make(os.Stdin, os.Stdout, *file, section, after); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

// Make is Main without the flags and without ending the process. It returns [ErrNoMedians] if there are
// no medians, and [ErrNoPlace] if the file has no place.
func (p Place) Make(from io.Reader, to io.Writer, file string, section func(Medians) string, after func(file, head string, m Medians) error) error {
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
	return after(file, head, medians)
}
