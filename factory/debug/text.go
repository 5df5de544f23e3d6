package debug

import (
	"fmt"
	"time"

	"github.com/tidemark-k8s/tidemark/factory/internal/show"
)

// duration formats seconds in at most two units.
func duration(seconds float64) string {
	switch s := int64(seconds); {
	case seconds <= 0:
		return "0 s"
	case seconds < 1e-6:
		return fmt.Sprintf("%.0f ns", seconds*1e9)
	case seconds < 1e-3:
		return fmt.Sprintf("%.0f µs", seconds*1e6)
	case seconds < 1:
		return fmt.Sprintf("%.0f ms", seconds*1e3)
	case seconds < 10:
		return fmt.Sprintf("%.1f s", seconds)
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	case s < 48*3600:
		return fmt.Sprintf("%d h %02d min", s/3600, s/60%60)
	default:
		return fmt.Sprintf("%d days", s/86400)
	}
}

// size formats bytes in powers of a thousand.
func size(bytes int64) string {
	units, n := []string{"B", "kB", "MB", "GB", "TB"}, float64(bytes)
	unit := 0
	for ; n >= 999.5 && unit < len(units)-1; unit++ {
		n /= 1000
	}
	if unit == 0 || n >= 99.5 {
		return fmt.Sprintf("%.0f %s", n, units[unit])
	}
	return fmt.Sprintf("%.1f %s", n, units[unit])
}

// rate formats a number of events per second.
func rate(perSecond float64) string {
	switch {
	case perSecond >= 99.5:
		return show.Number(int64(perSecond+0.5)) + "/s"
	case perSecond == 0:
		return "0/s"
	default:
		return fmt.Sprintf("%.1f/s", perSecond)
	}
}

// age formats the time since then, or returns "–" if then is zero.
func age(then, now time.Time) string {
	if then.IsZero() {
		return "–"
	}
	return duration(max(0, now.Sub(then).Seconds()))
}
