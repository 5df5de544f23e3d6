package report

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// Machine says what has to stand beside figures: where they come from and how
// to get them again.
func Machine(command string) string {
	return fmt.Sprintf("%s, %s/%s, GOMAXPROCS %d, %s; client-go %s.\n\n    %s\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), cpuModel(), versionOf("k8s.io/client-go"), command)
}

// Quoted is a command's argument as a shell takes it.
func Quoted(argument string) string {
	if argument != "" && !strings.ContainsAny(argument, " \t$^*?|&;()<>[]{}'\"\\~`#") {
		return argument
	}
	return "'" + strings.ReplaceAll(argument, "'", `'\''`) + "'"
}

// cpuModel is the processor's name, where the system tells it in a file.
func cpuModel() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "processor unknown"
	}
	for line := range strings.Lines(string(info)) {
		if name, model, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(model)
		}
	}
	return "processor unknown"
}

// versionOf is the version of a module that this program is built with.
func versionOf(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == module {
				return m.Version
			}
		}
	}
	return "of unknown version"
}
