package programs

import "testing"

func TestQuickstart(t *testing.T) {
	t.Parallel()
	p := built("quickstart").Start(t) // on an API server in its process, because there is no kubeconfig
	p.Prints(t, `^2 of 3 pods have the label app=web$`)
	p.Prints(t, `^web-0 Pending -> Running$`)
	p.Prints(t, `^web-1 Pending -> Running$`)
	p.Interrupt()
	p.Exits(t, 0)
}
