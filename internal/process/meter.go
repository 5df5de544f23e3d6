package process

import "runtime"

// Heap returns the size of this process's heap in bytes, without garbage.
func Heap() uint64 {
	runtime.GC()
	runtime.GC() // frees what a sync.Pool held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
