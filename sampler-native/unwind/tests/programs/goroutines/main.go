// Sleeps or spins ten calls deep in a goroutine, or on the scheduler's stack, where a goroutine has called it.
package main

import (
	"runtime"
	"syscall"
	"unsafe"
)

//go:linkname systemstack runtime.systemstack
func systemstack(func())

var spin int

//go:noinline
func work() {
	// Neither os nor fmt: building those takes long.
	syscall.Write(1, []byte("ready\n"))
	switch how, _ := syscall.Getenv("GOROUTINE"); how {
	case "sleep":
		asleep()
	case "system":
		systemstack(asleep)
	case "system-spin":
		systemstack(spinning)
	case "spin":
		for {
			spin++
		}
	}
}

//go:noinline
func spinning() {
	for {
		spin++
	}
}

//go:noinline
func asleep() {
	for {
		hour := syscall.Timespec{Sec: 3600}
		syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&hour)), 0, 0)
	}
}

//go:noinline
func outer(depth int) int {
	if depth == 0 {
		work()
		return 1
	}
	return outer(depth-1) * 2
}

func main() {
	go func() {
		runtime.LockOSThread()
		outer(3)
	}()
	select {}
}
